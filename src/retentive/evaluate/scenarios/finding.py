"""What is found at all: by meaning, exact sign, company, and for each part of a question (9-11, 30)."""

from __future__ import annotations

from retentive.evaluate.scenarios.crowds import crowd, household
from retentive.evaluate.scenarios.geometry import Placed, small_talk, spread
from retentive.evaluate.scenarios.stage import Stage, expect_among, expect_first, scenario

CONCEPTS = (
    ("What is his profession?", "He is employed as a carpenter"),
    ("Which animals does she own?", "Adopted two kittens from the shelter"),
    ("How does he commute?", "Rides a bicycle to work every morning"),
    ("Which languages does she know?", "She speaks Portuguese fluently"),
    ("Where did they purchase a house?", "They bought a cottage near the sea"),
    ("What is he allergic to?", "Gets a rash from peanuts and shrimp"),
)


@scenario(9, "concept without shared words", "a concept match without shared words is found")
def concept_without_shared_words(stage: Stage) -> None:
    """No content word of the question stands in the answer; only the meaning leads there."""
    subject = stage.open("potion")
    household(subject, stage.clock)
    ids = {cue: subject.remember(text, at=stage.clock.ago(60 + number)) for number, (cue, text) in enumerate(CONCEPTS)}
    for cue, memory_id in ids.items():
        expect_among(subject.recall(cue, limit=3, touch=False), [memory_id], cue)


SIGNS = (
    ("What was E4012 about?", "Deploy failed with error E4{number:03d} on host {host}", 12),
    ("Status of PAY-2207?", "Ticket PAY-22{number:02d} was handed to team {host}", 7),
    ("invoice 2024/0031", "Invoice 2024/{number:04d} was paid by customer {host}", 31),
)
HOSTS = ("amber", "birch", "cedar", "dune", "ember")


@scenario(10, "exact identifier", "an exact identifier (error code, ticket, invoice) is found")
def exact_identifier(stage: Stage) -> None:
    """Sixty sentences differ in nothing but the number; to the vector the wanted one is the least alike."""
    for cue, template, wanted in SIGNS:
        placed = Placed()
        subject = stage.open(placed)
        ids = {}
        for number in range(60):
            text = template.format(number=number, host=HOSTS[number % len(HOSTS)])
            placed.put(text, {placed.cue(cue): 0.55 if number == wanted else 0.56 + number / 1000})
            ids[number] = subject.remember(text, at=stage.clock.ago(1 + number * 23 % 60))
        expect_first(subject.recall(cue, touch=False), ids[wanted], cue)


COMPANY = (
    (
        "What limits Marta's plans?",
        "Marta took over Project Falcon",
        "Project Falcon may not cost more than 40 thousand",
    ),
    ("What matters when I meet Okoro?", "Okoro is chief buyer at Lindqvist", "Lindqvist cancels every late contract"),
    ("Why is Theresa upset?", "Theresa has moved to Kestrel House", "Kestrel House had no heating all week"),
)


@scenario(11, "one hop away", "an entity one hop away is found")
def one_hop_away(stage: Stage) -> None:
    """The answer names neither the person nor any word of the question; a third memory connects the two."""
    for cue, link, answer in COMPANY:
        placed = Placed()
        subject = stage.open(placed)
        placed.put(link, {placed.cue(cue): 0.45})
        placed.put(answer, {cue: 0.12})
        linked = subject.remember(link, at=stage.clock.ago(60))
        wanted = subject.remember(answer, at=stage.clock.ago(50))
        crowd(subject, placed, cue, spread(-0.05, 0.2, 40), stage.clock)
        expect_among(subject.recall(cue, limit=10, touch=False), [linked, wanted], cue)


TWO_PARTS = (
    (
        ("which database does she like best", "She likes the Postgres database best"),
        ("when is the product launch planned", "The product launch is planned for the ninth of May"),
    ),
    (
        ("who approves the travel budget", "Travel budget: approved by Henrike"),
        ("what broke in the billing run", "The billing run broke on a leap day"),
    ),
    (
        ("where are the spare batteries", "Spare batteries lie in the hall cupboard"),
        ("how often is the boiler serviced", "The boiler is serviced each September"),
    ),
)


@scenario(30, "two-part question", "a two-part question recalls for both parts")
def two_part_question(stage: Stage) -> None:
    """The question as a whole lies between its parts, where forty memories answer neither."""
    for (first, first_text), (second, second_text) in TWO_PARTS:
        placed = Placed()
        subject = stage.open(placed)
        cue = f"{first[0].upper()}{first[1:]}, and {second}?"
        placed.put(first_text, {placed.cue(first): 0.60})
        placed.put(second_text, {placed.cue(second): 0.60})
        wanted = [subject.remember(text, at=stage.clock.ago(30)) for text in (first_text, second_text)]
        for number, text in enumerate(small_talk(40)):
            placed.put(text, {first: 0.36 + number / 2000, second: 0.36 + number / 2000})
            subject.remember(text, at=stage.clock.ago(30 + number))
        for policy in (None, "operational"):
            answer = subject.recall(cue, limit=5, policy=policy, touch=False)
            expect_among(answer, wanted, f"{policy or 'the default'}: {cue}")
