"""Words that are capitalised for reasons other than being a name: the first word of a sentence, a weekday, a shout."""

from __future__ import annotations

from typing import Final

from retentive.text.stopwords import STOP_WORDS

MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")

_CALENDAR = """
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun
mondays tuesdays wednesdays thursdays fridays saturdays sundays today tomorrow yesterday tonight morning afternoon
evening night noon midnight spring summer autumn fall winter am pm
"""
_REPLIES = """
yes yeah yep no nope nah ok okay oh ah aw aww hi hey hello bye goodbye thanks thank thx cheers sure right exactly
absolutely definitely totally indeed well wow whoa haha hahaha lol lmao omg btw fyi asap imo imho tbh idk nvm hmm hm ugh
oops great good nice cool awesome amazing wonderful fantastic perfect excellent congrats congratulations sorry alright
maybe perhaps probably possibly certainly clearly obviously honestly actually basically seriously hopefully luckily
unfortunately fortunately anyway anyways besides however therefore thus hence meanwhile otherwise instead finally
eventually recently lately currently originally initially previously usually sometimes often always never
"""
_OPENERS = """
now later soon first second third last next since like another every many several lots plenty none nothing nobody
everything everywhere somewhere sir madam dear everybody guys folks people good glad happy sad sounds looks seems feels
it's that's let's going gonna wanna meeting visiting seeing talking having being looking working trying calling thinking
hoping feeling getting making using planning watching reading starting living taking doing playing
try make take give go come see look let use show find list name describe explain summarize summarise compare tell remind
remember write create add remove update send call ask check keep put set run stop start help need want know think feel
love hate hope wish guess believe suppose mean note warning error todo user assistant system human bot agent
re fw fwd ps nb vs etc ie eg unless despite given regarding concerning following according
"""

COMMON_WORDS: Final[frozenset[str]] = (
    STOP_WORDS | frozenset((*MONTHS, *WEEKDAYS)) | frozenset(f"{_CALENDAR} {_REPLIES} {_OPENERS}".split())
)
"""Folded words that are no name on their own, wherever their capital stands."""

HONORIFICS: Final = frozenset(("dr", "mr", "mrs", "ms", "miss", "mx", "prof", "professor", "mister"))
PARTICLES: Final = frozenset(
    (
        "of",
        "the",
        "de",
        "van",
        "von",
        "der",
        "den",
        "da",
        "di",
        "do",
        "du",
        "la",
        "le",
        "los",
        "las",
        "del",
        "al",
        "bin",
    )
) | {"ibn", "y", "and", "&"}
"""What joins the parts of a name and is none of them."""
