"""The words by which a text is weighed, in groups. English, like the stop words and the names.

General vocabulary, not the words of the labelled list: a group says what a kind of importance is usually told with. A
word ending in ``*`` stands for everything that begins with it, ``_`` for the space inside a phrase.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

from retentive.text.lazy import Lazy

GROUPS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "own": ("i i'm i've i'd i'll me my mine myself we we're we've we'll us our ours"),
        "greeting": (
            "hi hello hey hiya howdy bye goodbye cheers thanks thank_you thx ok okay k lol haha hehe yep"
            " yeah yes nope nah sure cool nice great fine awesome welcome please good_morning good_night"
            " good_evening see_you sounds_good got_it no_problem no_worries of_course alright right hmm hm"
            " uh um oh wow what's_up how_are_you one_moment let_me_think"
            " aw gotcha mm-hm talk_soon so_sweet how's_everything hey_there"
        ),
        "passing": (
            "weather rain* sunny cloudy windy snow* cold warm hot lunch dinner breakfast sandwich coffee tea"
            " telly tv nap sofa traffic bus mug sink chat* laugh* joke* scroll* smell* noise funny walk"
            " stroll tid* clean* sort* watch* listen* flicker* queue bored boring random somebody someone"
            " something anyway whatever again a_bit a_while this_morning this_afternoon looked glanced"
            " renamed restarted replied wore"
            " radio ads podcast laundry picture colours colors view hike amazing page looked_up waited"
        ),
        "commitment": (
            "promis* agree* agreed agreement commit* deadline* due must have_to has_to had_to need_to"
            " needs_to obliged remind* reminder remember_to don't_forget appointment* meeting_with schedul*"
            " book* reserv* sign* contract* i_will i'll we_will we'll owe* owns responsible assigned"
            " deliver* submit* renew* expir* cancel* pick_up notice by_monday by_tuesday by_wednesday"
            " by_thursday by_friday by_saturday by_sunday by_the_end by_tomorrow"
            " todo launch let's_meet note_to_self guests tell_the bring bringing aiming"
        ),
        "decision": (
            "decid* decision* chose chosen choose settled_on opt* approv* reject* veto* postpon* launch*"
            " ship* adopt* drop* merger migrat* resolv* conclud* from_now_on won lost vote* elected released"
            " agreed_with ruled freeze frozen confirmed confirms"
        ),
        "rule": (
            "never always do_not don't must_not mustn't may_not cannot can't under_no_circumstances only_if"
            " at_all_costs without_exception forbidden prohibited not_allowed mandatory required avoid*"
            " strictly in_any_case no_one nobody without_my without_approval immediately at_once"
            " no_exceptions require* requires every_time whenever only"
        ),
        "correction": (
            "actually correction instead rather_than no_longer not_anymore any_more anymore used_to switch*"
            " replac* chang* moved mov* stopp* quit* left join* rename* wrong mistake* in_fact turns_out"
            " update* formerly became become* rotat* reschedul* new_job over"
        ),
        "preference": (
            "prefer* favourite favorite like likes love loves enjoy* hate* hates dislike* want* wants"
            " would_like would_rather keen_on fond_of interested_in into usually tend* always_use habit*"
            " vegetarian vegan hopes hope dream* plan* plans saving_for learning training_for intend* aims"
            " goal* wishes"
            " can't_stand would_rather_be taste tastes"
        ),
        "profile": (
            "works_as works_at works_for work_as lives_in live_in born_in grew_up studi* graduat* degree"
            " speaks name_is named called is_a manager boss wife husband partner son daughter mother father"
            " mum mom dad brother sister parents child* kids baby grandmother grandfather friend* fiancé*"
            " girlfriend boyfriend uses runs_on written_in built_with deployed hosted plan version database"
            " server api repository customer* team company account owns rents"
            " comes_from teaches editor region tenant called"
            " village flatmate guest* from_now_on every_monday every_thursday"
        ),
        "feeling": (
            "worr* afraid scared fear* anxi* nervous stress* depress* sad* cry* cried heartbroken devastat*"
            " lonely grie* mourn* angry furious hurt ashamed guilty proud thrilled excited overjoyed"
            " happiest delighted relieved love* hopeless desperate panic* terrified upset disappoint*"
            " exhausted burn* traumat* suffer* pain*"
        ),
        "life": (
            "born birth* pregnan* expecting married marry marries wedding engage* propos* divorc* separat*"
            " broke_up breakup miscarriage adopt* died die dies dying death dead funeral passed_away widow*"
            " killed suicid* missing orphan* promot* fired laid_off lost_my_job quit_my_job resign* retir*"
            " new_job got_the_job start_my_own hired dismissed bankrupt* evict* homeless moving_to emigrat*"
            " visa asylum prison arrest* jail threaten* abus* assault* victim* mortgage bought_a_house"
            " lost_the_house custody graduation won_the founded anniversar* terminated"
            " didn't_make_it took_her_life took_his_life came_out transgender adoption deport* tribunal"
            " handed_in last_working_day"
        ),
        "health": (
            "allerg* anaphyla* epipen asthma diabet* cancer tumour* tumor* biops* diagnos* disease disorder"
            " syndrome illness ill sick hospital* surg* operation intensive_care emergency ambulance doctor*"
            " medic* medication prescri* penicillin ibuprofen antibiotic* insulin blood heart kidney* liver"
            " lung* seizure* epilep* stroke coma concussion fracture* accident crash* injur* deaf blind"
            " wheelchair disab* dement* alzheimer* depression gluten coeliac celiac intolerance lactose"
            " addict* sober alcohol overdose poison* bleed* therap* severe stage_four chronic fatal"
            " malignan* benign chemo* radiotherap* resuscitat*"
            " unconscious breathing chest_pain adrenaline epinephrine stroke"
            " headache* migraine* symptom* infect* sepsis"
        ),
        "stakes": (
            "breach* hack* leak* compromis* stolen theft fraud ransom* malware phishing password*"
            " credential* secret* private_key outage* took_down went_down data_loss lost_data lost_customer*"
            " delete* wipe* destroy* fire flood* production prod backup* incident* revenue profit* cost*"
            " invoice* debt* loan* fine fines penalt* tax* lawsuit sue* court hearing legal* lawyer* police"
            " liab* audit* compliance gdpr regulat* tender merger acquisition layoff* insolven* confidential"
            " nda security vulnerab* revoke* largest_customer gave_notice budget salary rent lease landlord"
            " passport insurance"
            " mortgage frozen transfer* card_number* consent rollback corrupt* certificate* signature* exception*"
            " completion"
        ),
        "grave": (
            "died dead death dying kill killed kills suicid* cancer stage_four missing born married pregnan*"
            " bankrupt* severe fatal anaphyla* epipen seizure* intensive_care threaten* never_under"
            " under_any_circumstances life-threatening deaf blind emergency"
        ),
    }
)
MOMENT: Final = Lazy(
    r"(?<!\w)(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|tonight|next\s+(?:week|month|year|spring|summer"
    r"|autumn|fall|winter)|(?:in|on|by|until|since|from|to|of|\d{1,2}(?:st|nd|rd|th)?)\s+(?:january"
    r"|february|march|april"
    r"|may|june|july|august|september|october|november|december)|(?:january|february|march|april|june|july|august"
    r"|september|october|november|december)\s+\d|\d{1,2}[:.]\d\d(?:\s*[ap]m)?|\d{1,2}\s*[ap]m|\d{4}-\d\d-\d\d"
    r"|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:19|20)\d\d|by\s+the\s+\d+(?:st|nd|rd|th))(?!\w)"
)
MONTHS: Final = Lazy(
    r"january|february|march|april|may|june|july|august|september|october|november|december|next|tomorrow|tonight"
)
NUMBER: Final = Lazy(r"\d[\d,.]*")
MONEY: Final = Lazy(
    r"[$€£¥]\s?\d|\d[\d,.]*\s*(?:k|m|bn|million|billion|thousand)?\s*(?:euros?|dollars?|pounds?|usd|eur|gbp|chf|yen|%"
    r"|percent|million|billion)(?!\w)"
)
_WORD: Final = Lazy(r"[^\W_]+(?:['-][^\W_]+)*")
_SHORTEST_STEM: Final = 3
_REMEMBERED: Final = 20_000  # words whose groups are kept at hand


def words_of(text: str) -> list[str]:
    """Return the words of a text that is in small letters already; curled apostrophes count as straight ones."""
    return _WORD.findall(text.replace("\u2019", "'"))


def counted(words: list[str]) -> dict[str, int]:
    """Return how often each group speaks in these words."""
    counts = dict.fromkeys(GROUPS, 0)
    lexicon = _lexicon()
    known = lexicon.known.get
    for at, word in enumerate(words):
        heard = known(word, _UNHEARD)
        if heard is _UNHEARD:
            heard = lexicon.look_up(word)
        if heard is None:  # most words say nothing
            continue
        for group in heard.groups:
            counts[group] += 1
        for rest, group in heard.phrases:
            if tuple(words[at + 1 : at + 1 + len(rest)]) == rest:
                counts[group] += 1
    return counts


@dataclass(frozen=True, slots=True)
class _Heard:
    """What a word says: its groups, and the phrases it may begin."""

    groups: tuple[str, ...]
    phrases: tuple[tuple[tuple[str, ...], str], ...]


_UNHEARD: Final = _Heard((), ())  # not looked up yet


class _Lexicon:
    """The groups by whole words, by beginnings of words, and by the first word of a phrase."""

    def __init__(self) -> None:
        self.known: dict[str, _Heard | None] = {}
        self._exact: dict[str, list[str]] = {}
        self._stems: dict[str, list[str]] = {}
        self._phrases: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        for group, listed in GROUPS.items():
            for entry in listed.split():
                self._add(group, entry)

    def _add(self, group: str, entry: str) -> None:
        first, *rest = entry.split("_")
        if rest:
            self._phrases.setdefault(first, []).append((tuple(rest), group))
        elif entry.endswith("*"):
            self._stems.setdefault(entry[:-1], []).append(group)
        else:
            self._exact.setdefault(entry, []).append(group)

    def look_up(self, word: str) -> _Heard | None:
        """Return what a word says, None where that is nothing, and remember it, for words come again."""
        groups = list(self._exact.get(word, ()))
        for end in range(_SHORTEST_STEM, len(word) + 1):
            groups += self._stems.get(word[:end], ())
        phrases = tuple(self._phrases.get(word, ()))
        heard = _Heard(tuple(dict.fromkeys(groups)), phrases) if groups or phrases else None
        if len(self.known) >= _REMEMBERED:
            self.known.clear()
        self.known[word] = heard
        return heard


@cache
def _lexicon() -> _Lexicon:
    return _Lexicon()
