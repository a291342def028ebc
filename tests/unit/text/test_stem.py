"""The English stems, as the Snowball project defines them."""

from __future__ import annotations

import pytest

from retentive.text.stem import stem

# From the published examples and special cases of the algorithm, checked against snowballstemmer 3.1.1.
STEMS = """
caresses:caress ponies:poni ties:tie cats:cat gas:gas this:this kiwis:kiwi feed:feed agreed:agre bled:bled
motoring:motor sing:sing hopping:hop hoping:hope falling:fall filing:file failing:fail luxuriated:luxuri hissing:hiss
cry:cri by:by say:say happy:happi relational:relat conditional:condit rational:ration digitizer:digit
radically:radic differently:differ analogously:analog vietnamization:vietnam predication:predic operator:oper
feudalism:feudal decisiveness:decis hopefulness:hope callousness:callous formality:formal sensitivity:sensit
triplicate:triplic formative:format formalize:formal electricity:electr electrical:electr hopeful:hope goodness:good
revival:reviv allowance:allow inference:infer adjustable:adjust defensible:defens irritant:irrit replacement:replac
adoption:adopt communism:communism activate:activ effective:effect probate:probat rate:rate
cease:ceas controlling:control
rolling:roll skies:sky dying:die lying:lie news:news inning:inning evening:evening proceed:proceed succeeded:succeed
generously:generous yes:yes boys:boy at:at a:a
"""


@pytest.mark.parametrize("pair", STEMS.split())
def test_a_word_has_its_published_stem(pair: str) -> None:
    """The algorithm is Porter2, exceptions included."""
    word, expected = pair.split(":")
    assert stem(word) == expected
