"""The words by which `claims` reads: stems, unless a list says otherwise."""

from __future__ import annotations

from typing import Final

from retentive.text.stem import stem

BE: Final = frozenset("be is are am was were been being".split())  # as written
AUXILIARIES: Final = frozenset("do does did has have had can will must".split()) | {"shall"}
NEGATIONS: Final = frozenset(("not", "never"))
WERE: Final = frozenset(("was", "were", "had", "did"))
SELF: Final = frozenset("i me my mine we us our ours user users".split())
HYPOTHETICAL: Final = frozenset(
    "if whether unless might may could would should maybe perhaps probably possibly think consider suggest propos"
    " wonder suppos imagin unsur".split()
)
"""Stems that make a claim no claim. Wishes are not among them: not to want what one wanted is a change."""

IRREGULAR: Final = {
    "has": "have", "had": "have", "does": "do", "did": "do", "goes": "go", "went": "go", "gone": "go", "left": "leave",
    "sold": "sell", "broke": "break", "gave": "give", "given": "give", "took": "take", "taken": "take", "got": "get",
    "lives": "live", "living": "live", "written": "write", "wrote": "write", "ran": "run", "met": "meet", "led": "lead",
    "held": "hold", "built": "build", "sent": "send", "paid": "pay", "bought": "buy", "married": "marri",
}  # fmt: skip

PAST: Final = frozenset(
    "was were had did went got took gave ran met beat won lost saw read wrote bought sold left made came became began"
    " grew flew drove ate drank spoke taught thought told said found felt kept slept spent paid built sent".split()
)
"""Past forms that do not end in -ed."""

VERBS: Final = frozenset(
    stem(word)
    for word in (
        "live reside stay work study prefer like love hate dislike enjoy use run drive ride own have need want know "
        "speak learn play eat drink smoke take go come lead manage report belong depend support include contain "
        "require allow weigh earn cost measure open close start begin end leave arrive depart meet call name host "
        "deploy build test ship store log send write read teach train commute travel sleep wake wear keep hold pay "
        "rent visit volunteer attend serve sell buy make do say mean fail pass trigger expire sit stand hang swim "
        "cook bake sing dance paint date subscribe follow believe trust fear avoid practice exercise jog teach mentor "
        "lean fix break owe plan book"
    ).split()
)
"""Verbs that a memory's first word, or a word behind its subject, is taken for."""

SINGLE: Final = {
    "live": 0.95, "resid": 0.95, "work": 0.92, "studi": 0.75, "weigh": 0.95, "earn": 0.95, "cost": 0.95, "drive": 0.75,
    "run": 0.9, "belong": 0.9, "report": 0.9, "commut": 0.85, "go": 0.85, "meet": 0.9, "leav": 0.93, "open": 0.93,
    "close": 0.93, "start": 0.93, "begin": 0.93, "end": 0.93, "arriv": 0.93, "depart": 0.93, "expir": 0.93,
    "leave": 0.93, "sit": 0.85,
}  # fmt: skip
"""Verbs of which one holds at a time, with how sure another value denies the first."""

MANY: Final = frozenset(
    stem(word)
    for word in (
        "like love hate dislike enjoy know speak learn play eat drink smoke read visit meet buy pay want support "
        "include contain depend require allow attend follow teach mentor fix avoid fear trust believe call write test "
        "ship cook bake sing dance paint wear say mean trigger owe own follow volunteer date make do take train "
        "practice sell"
    ).split()
) - {stem("meet"), stem("date")}
"""Verbs of which many hold side by side: another value denies nothing, unless it is a number."""

PARTICIPLES: Final = frozenset(
    stem(word)
    for word in (
        "called named spelled based hosted located written stored scheduled planned managed owned licensed maintained "
        "set held built deployed run led sent spelt situated headquartered titled known signed due"
    ).split()
) | {"write", "lead", "hold", "build", "send"}
"""Behind "is": not what is said, but the way to it ("is hosted on …")."""

ATTRIBUTES: Final = frozenset(
    stem(word)
    for word in (
        "name surname codename nickname title age birthday anniversary height weight size salary rent price cost fee "
        "budget total limit timeout window deadline date time timezone zone language locale currency country city "
        "address phone number email password pin code url host port region branch version license status state stage "
        "priority color colour flavor editor shell framework database manager boss lead leader cto ceo cfo owner "
        "landlord landlady doctor dentist contact assignee maintainer captain coach headquarters job role position "
        "employer occupation capital favorite birthplace hometown retention quota capacity codename venue location "
        "room gate seat policy default appointment meeting standup sync launch release flight band food author "
        "director president chair logo"
    ).split()
)
"""What a thing or person has one of."""

EXCLUSIVE: Final = tuple(
    frozenset(stem(word) for word in group.split())
    for group in (
        "single engaged married divorced widowed separated",
        "open closed",
        "enabled disabled",
        "on off",
        "public private",
        "mandatory required optional",
        "allowed forbidden prohibited banned",
        "active inactive",
        "available unavailable",
        "online offline",
        "true false",
        "yes no",
        "green red",
        "paid unpaid",
        "alive dead",
        "full-time part-time",
        "vegetarian vegan",
        "approved rejected",
        "pending done",
        "love hate",
        "like dislike hate",
        "enjoy dislike hate",
        "left right",
        "up down",
    )
)
"""Words of which one excludes the others."""

COLOURS: Final = frozenset(
    (
        "black white red green blue yellow orange purple violet pink brown grey gray teal cyan magenta beige gold "
        "silver"
    ).split()
)

NO_LONGER: Final = (("no", "longer"), ("any", "more"), ("any", "longer"), ("anymore",))
CEASED: Final = frozenset(stem(word) for word in "stop quit ceas discontinu abandon".split()) | {
    "stop",
    "quit",
    "cease",
}
"""Verbs that end what stands behind them: "stopped smoking", "quit chess"."""

_ANY: Final = frozenset[str]()
CESSATIONS: Final = {
    ("sell",): frozenset("own have drive ride".split()),
    ("break", "up", "with"): frozenset("date be see have".split()),
    ("divorc",): frozenset("be marri have".split()),
    ("drop", "out", "of"): frozenset("train run be studi attend plan play".split()),
    ("resign", "from"): frozenset("work be".split()),
    ("leave",): frozenset("work play be studi attend sing volunt belong member have".split()),
    ("cancel",): frozenset("subscrib book have be plan pay use".split()),
    ("give", "up"): _ANY,
}
"""What ends something, and the verbs that may have said that it was so; none: any."""

SWITCHES: Final = frozenset(
    stem(word)
    for word in "switch move migrate change upgrade downgrade rename increase raise drop reduce convert relocate go"
    " transfer shift postpone reschedule".split()
)
ASSIGNED: Final = frozenset(
    stem(word)
    for word in (
        "change move postpone reschedule replace rename increase raise reduce update shift set lower extend"
    ).split()
)
"""Behind "has been": "… to B" makes B the value."""
CALLED_OFF: Final = frozenset(("cancel", "off", "call"))

PLACES: Final = frozenset("in at on to for by with as of from under near into onto via".split())
MODIFIERS: Final = frozenset(
    "for with since in on at near as during while when until after before because by from every each without unless"
    " under including except between if within across through via despite but".split()
)
BETWEEN: Final = (
    PLACES
    | MODIFIERS
    | frozenset(
        ("and or that this these those it its his her their there's be have do not no own who which so than 's").split()
    )
)
PLURAL_SUBJECTS: Final = frozenset("i we they you people both".split())
