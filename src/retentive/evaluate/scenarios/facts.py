"""Forty remembered sentences, four to a theme so that each has rivals, and a question that only one of them answers."""

from __future__ import annotations

FACTS: tuple[tuple[str, str], ...] = (
    ("When is the dentist appointment?", "The dentist appointment is on the third of May"),
    ("When is the cat seeing the vet?", "The vet will look at the cat on the ninth of June"),
    ("What time does the yoga class start?", "The yoga class starts at half past six in the evening"),
    ("Which day is the parents' evening at school?", "The parents' evening at school is on Thursday"),
    ("Who is getting married in Porto?", "Cousin Amalia is getting married in Porto"),
    ("What does her brother study?", "Her brother studies marine biology in Bergen"),
    ("How old is grandmother turning?", "Grandmother is turning ninety this winter"),
    ("What is the name of the baby?", "The baby next door has been named Emil"),
    ("Which mechanic repairs the car?", "The car is repaired by the mechanic behind the cinema"),
    ("When do the winter tyres go on?", "Winter tyres go on in the last week of October"),
    ("Where is the car parked?", "The car is parked on level two of the station garage"),
    ("What noise does the gearbox make?", "The gearbox makes a grinding noise in third gear"),
    ("How long does the sourdough rise?", "The sourdough rises for fourteen hours"),
    ("Which spice goes into the stew?", "A spoon of smoked paprika goes into the stew"),
    ("Who cannot eat gluten?", "Uncle Pieter cannot eat gluten"),
    ("Where do we buy fish?", "We buy fish from the van at the harbour on Fridays"),
    ("Who approves expenses at work?", "Expenses at work are approved by Marguerite"),
    ("When is the quarterly report due?", "The quarterly report is due on the tenth"),
    ("Which room has the projector?", "The projector stands in room Aspen"),
    ("What is the password policy?", "The password policy asks for sixteen characters"),
    ("Which seat did she book on the train?", "She booked a window seat on the train to Vienna"),
    ("What is the name of the hotel in Lisbon?", "The hotel in Lisbon is called Casa Azul"),
    ("When does the ferry leave?", "The ferry leaves at a quarter to eight"),
    ("Do we need a visa for Georgia?", "For Georgia we need no visa, only a passport"),
    ("What colour is the kitchen painted?", "The kitchen is painted in sage green"),
    ("Who repaired the roof?", "The roof was repaired by Hinrichs and sons"),
    ("Why does the alarm beep at night?", "The alarm beeps at night because its battery is low"),
    ("Where is the fuse for the cellar?", "The fuse for the cellar is the third from the left"),
    ("Which instrument does he practise?", "He practises the cello before breakfast"),
    ("How far did she run on Sunday?", "On Sunday she ran eleven kilometres"),
    ("Which book is the club reading?", "The book club is reading a novel about lighthouse keepers"),
    ("What does he photograph?", "He photographs moths with an old macro lens"),
    ("How much is the monthly rent?", "The monthly rent is eight hundred and forty"),
    ("Which bank holds the savings?", "The savings are held by the cooperative bank"),
    ("When is the tax return due?", "The tax return is due at the end of July"),
    ("Who owes us money for the tickets?", "Rasmus owes us money for the concert tickets"),
    ("What is she allergic to?", "She is allergic to penicillin and to birch pollen"),
    ("How many tablets does he take a day?", "He takes two blood pressure tablets a day"),
    ("Who is our doctor?", "Our doctor is Evangelina Brandt"),
    ("When did she break her wrist?", "She broke her wrist skating in February"),
)


def vocabulary() -> list[str]:
    """Return the longer words of all the facts, in their order: what a stream of unrelated questions may ask about."""
    words = (word.strip("',").lower() for _, fact in FACTS for word in fact.split())
    return list(dict.fromkeys(word for word in words if len(word) > 4))
