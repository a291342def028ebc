"""The English by which people state what they like, are, decide, promise and know how to do.

Each expression matches at the start of a clause (procedures: of a sentence), after openers such as "well," and "by the
way,", with straight apostrophes. What is excluded matters as much as what is found: "I like that idea" is no
preference, "I'm a bit tired" no fact, "I'll help you with that" no promise.
"""

from __future__ import annotations

import re
from typing import Final

from retentive.text.lazy import Lazy

_I: Final = re.IGNORECASE
_ADVERB: Final = (
    r"(?:(?:really|just|also|actually|still|absolutely|simply|always|usually|generally|honestly|personally|totally"
    r"|particularly|definitely|truly|quite|strongly|especially|finally|already|now|both|all|have|kind of|sort of"
    r"|mostly|often|normally|only|currently|very much|probably|then|no longer|gladly|happily|certainly|gonna|even)\s+)*"
)
_PERSON: Final = r"(?:i|we)"
_KIN: Final = (
    r"(?:wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|mother|mom|mum|father|dad|parents|sister"
    r"|brother"
    r"|sisters|brothers|siblings?|twins?|son|daughter|sons|daughters|kid|kids|child|children|baby|grandma|grandpa"
    r"|grandmother|grandfather|grandson|granddaughter|aunt|uncle|cousin|nephew|niece|family|roommate|flatmate"
    r"|neighbou?r|boss|manager|colleague|best friend|friend|dog|cat|puppy|kitten|horse|pet)"
)
_BE: Final = r"(?:'m| am)"

OPENERS: Final = Lazy(
    r"(?:\W*\b(?:well|so|and|also|oh|ok|okay|yes|yeah|yep|no|nope|actually|honestly|plus|btw|by the way|tbh|but|then"
    r"|fine|sure|right|wow|aww+|hi|hey|hello|thanks|thank you|thanks a lot|haha+|hm+|i mean|you know|to be honest"
    r"|as i said|like i said|personally|perfect|great|cool|nice|good|understood|noted|anyway|sorry|please"
    r"|for the record"
    r"|fyi|in fact|in the end|as for me|apparently|of course|frankly|besides|oh no|alas|luckily|unfortunately|sadly"
    r"|remember that|note that|just so you know|for your information|i think|i guess|i'd say"
    r"|i believe)\b[\s,.!:;-]*)+",
    _I,
)

_OBJECT: Final = (
    r"(?!(?:it|that|this|them|him|her|you|your|these|those|one|how|what|when|where|all of)\b|to\W*$"
    r"|the (?!color\b|colour\b"
    r"|sea\b|beach|mountains|countryside|outdoors|city|snow|rain|cold|heat|taste|smell|feeling of)\w)\w"
)
"""What one likes in general; "the tips" and "that idea" are those just spoken of."""

PREFERENCE: Final = Lazy(
    rf"i {_ADVERB}(?:like|love|enjoy|prefer|hate|dislike|adore|loathe|detest|despise|favou?r)\s+"
    rf"{_OBJECT}"
    rf"|i(?:'ve| have)? {_ADVERB}(?:always|never) (?:liked|loved|hated|preferred|enjoyed|disliked)\b"
    rf"|i (?:don't|do not|never) {_ADVERB}(?:like|enjoy|love|eat|drink)\s+" + _OBJECT + r""
    r"|i (?:can't|cannot|can not|couldn't) (?:stand|bear|tolerate|live without)\b"
    rf"|i{_BE}(?: not)? {_ADVERB}(?:an? (?:big |huge |great |real |avid )?(?:fan|lover) of|fond of|keen on|into"
    r"|partial to|crazy about|mad about|passionate about|obsessed with|a sucker for|more of an?|picky about|big on"
    r"|tired of|sick of)\b"
    rf"|i(?:'d| would) {_ADVERB}(?:much )?(?:rather|prefer)\b"
    r"|i(?:'d| would) love to (?:see|visit|travel|live|learn|go to|try|own|climb|write|play|ride)\b"
    r"|i have a (?:weakness|soft spot|thing|preference) for\b"
    r"|my (?:all-time |absolute |personal )?(?:favou?rite|preferred) (?!part|one|thing|bit|memor"
    r"|moment)[\w' -]{1,40}?(?:'s| is| are| was| has always been)\b"
    r"|(?!(?:he|she|it|they|that|this|these|those|which|who|one)\b)[\w' -]{2,60}? (?:is|are"
    r"|has always been) (?:\w+ )?my"
    r" (?:all-time |absolute )?favou?rite\b"
    r"|(?!(?:it|that|this|these|those)\b)[\w' -]{2,60}? (?:is|are)(?:n't| not)? (?:really |much |more |just "
    r"|totally ){0,2}my (?:thing|style|cup of tea|jam)\b",
    _I,
)

_STATES: Final = (
    r"vegan|vegetarian|pescatarian|diabetic|celiac|coeliac|lactose[- ]intolerant|gluten[- ]intolerant|left-handed"
    r"|colou?r-?blind|married|single|divorced|widowed|engaged|pregnant|retired|unemployed|self-employed|bilingual"
    r"|dyslexic|autistic|deaf|blind|disabled|freelance|jewish|muslim|christian|hindu|buddhist|catholic|gay|lesbian"
)
_MOOD: Final = (
    r"bit|little|lot|fan|lover|sucker|big fan|huge fan|mess|wreck|minute|moment|step|loss|hurry|rush|call|meeting|few"
    r"|couple|while|great fan|good mood|bad mood|kid"
)
_THINGS: Final = (
    r"(?:car|van|truck|motorcycle|motorbike|bike|boat|house|home|flat|apartment|cabin|cottage|garden|farm"
    r"|allotment|phd|degree"
    r"|master's|bachelor's|licen[cs]e|visa|passport|tattoos?|prosthe\w+|pacemaker|stutter|allerg\w+|intolerance"
    r"|asthma|diabetes"
    r"|adhd|insomnia|arthritis|epilepsy|migraines?|dyslexia|celiac|coeliac|disability|piano|guitar|violin|cats?"
    r"|dogs?|pets?"
    r"|rabbits?|parrots?|chickens|horses?|phone|laptop|mac|macbook|iphone|pc|thinkpad|subscription|business"
    r"|company|shop"
    r"|bakery|restaurant|blog|channel|podcast)"
)
_VAGUE: Final = (
    r"count\w*|think\w*|wait\w*|look\w*|try\w*|mean\w*|putt\w*|hav\w*|feel\w*|keep\w*|focus\w*|hear\w*"
    r"|wonder\w*|struggl\w*|go\w*"
    r"|do\w*|get\w*|mak\w*|consider\w*|deal\w*"
)
_IS: Final = (
    rf"(?:'s| is| are| was) (?:(?:also|now|actually|really) )?(?:an? (?!bit\b|little\b|lot\b|mess\b|great\b"
    rf"|good\b|big\b|huge\b)"
    rf"|the (?:head|ceo|owner|founder)|\d|allergic|intolerant|from [A-Z]|called|named|based|(?:{_STATES})\b)"
)
FACT: Final = Lazy(
    rf"i{_BE} {_ADVERB}an? (?!(?:{_MOOD})\b)[a-z]"
    rf"|i{_BE} {_ADVERB}(?:the (?:head|ceo|cto|owner|founder|lead|manager|oldest|youngest|mother|father)\b"
    rf"|(?-i:from [A-Z])"
    rf"|based in|allergic to|intolerant to|\d{{1,3}}(?: years old)?\W*$|\d{{1,3}} years old|(?:{_STATES})\b"
    r"|(?:living in|working (?:at|for|as)|studying|training (?:to be|as|for)|teaching|married|originally from)\b)"
    rf"|i {_ADVERB}(?:live|work(?! on\b| through\b| it\b| hard\b)|teach|study|studied|speak(?! to\b| up\b)|own"
    rf"|drive(?! me\b)|come from"
    r"|belong to|manage(?! to\b)|practi[sc]e|volunteer|graduated|majored|was born|grew up|was raised|moved to"
    r"|relocated"
    r"|emigrated|immigrated|served in|retired|adopted|married|got married|got divorced|used to (?:live|work|be"
    r"|have|play|study"
    r"|smoke|own|teach)|suffer from|was diagnosed|commute|collect|quit (?:smoking|drinking|my|a|the|[A-Z])"
    r"|stopped (?:smoking"
    r"|drinking|eating)|founded|co-founded|play (?:the|in|for)\b|sing in|bought (?:a|an|my) (?:new |first |used )?"
    rf"{_THINGS}\b)(?!\w)"
    rf"|i run an? |i own |i use (?:an? |my |the )?(?-i:[A-Z])"
    rf"|(?:i|we)(?: have|'ve)(?: got)? (?:an? |two |three |four |five |six |seven |eight |\d+ |no |several "
    rf"|twin |severe |mild "
    rf"|bad |chronic )?(?:[\w-]+ ){{0,2}}?(?:{_KIN}|{_THINGS})\b(?! (?:question|problem|issue|idea|appointment"
    rf"|call|show|plan)s?\b)"
    rf"|(?:i|we)(?: have|'ve)(?: got)? an? (?-i:[A-Z])"
    rf"|i(?:'ve| have) {_ADVERB}(?:been (?!(?:{_VAGUE})\b)\w+ing\b.*\b(?:since|for) (?!a (?:bit|while)\b|ages\b"
    rf"|we\b|.*minutes)"
    r"|lived|worked (?:at|for|as|in)|studied)\b"
    r"|we (?:adopted|bought|own|live|moved to|got married|rent)\b"
    rf"|my (?:\w+ )?{_KIN}(?:,? (?-i:[A-Z])[\w'-]+?,?)?(?:{_IS}| (?:works?|lives?|owns?|uses?|teach(?:es)?"
    rf"|stud(?:y|ies)|drives?"
    r"|speaks?|plays?|runs?|loves?|hates?|prefers?|died|passed away|suffers?|has (?:an? |two |three "
    r"|been diagnosed)))"
    rf"|my (?:\w+ )?{_KIN} and i (?:have|live|own|rent|got)\b"
    r"|my (?:full |first |last |middle |nick)?name(?:'s| is)\b"
    r"|my (?:birthday|anniversary|e-?mail|phone|number|address|hometown|home town|native language|mother tongue"
    r"|job|title"
    r"|blood type|pronouns|nationality|account number|phone number|e-?mail address|surname|nickname|age|height|weight"
    r"|shoe size|time ?zone|employer|major|profession|occupation|salary|star sign)(?:'s| is| are) (?!been\b"
    r"|so\b|not\b|\w+ing\b)\S"
    r"|(?:you can |just )?call me (?-i:[A-Z])",
    _I,
)

DECISION: Final = Lazy(
    rf"{_PERSON}(?:'ve| have)? {_ADVERB}(?:decided(?! (?:yet|whether|if|anything|nothing|against it yet))"
    rf"|settled (?:on|for|that)"
    r"|agreed (?!with\b)|chosen\b|chose\b|opted\b|picked (?!up\b|at\b|it\b|on\b)|resolved (?:to|that)"
    r"|concluded that|voted (?:to|for)"
    r"|selected\b|signed off on|approved\b|committed to|landed on|went with (?!my\b|me\b|him\b|her\b|them\b"
    r"|you\b|us\b|it\b|a friend)"
    r"|went for the\b|(?:ended|wound) up (?:with|choosing|picking(?! up)|going with|deciding))"
    rf"|{_PERSON}(?:'re| are|'m| am|'ll| will)(?: be)? {_ADVERB}(?:going to )?(?:(?:go|going|stick|sticking"
    rf"|stay|staying) with|go for)"
    r" (?!it\W*$|you\b|him\b|her\b|them\b|a friend)\S"
    r"|let's (?:go (?:with|for)|stick (?:with|to)|use|settle on|keep|switch to|postpone|drop)\s+(?!it\W*$"
    r"|that\W*$|going\b|\w+ing\b"
    r"|each\b|in\b|a (?:walk|drink|coffee))\S"
    r"|it(?:'s| is| was| has been|'s been) (?:now |finally |already )?(?:decided|agreed|settled)\b(?! yet)"
    r"|(?:the|our|my)(?: final)? (?:decision|verdict|choice)(?:'s| is| was)\b(?! (?:still|not|yours|up to|open"
    r"|hard|easy)\b)"
    r"|(?:final )?decision:",
    _I,
)

_IDLE: Final = (
    r"be|see|think|try|admit|say|bet|guess|assume|pass|have|need|never|not|miss|know|understand|manage|survive"
    r"|live|die"
    r"|regret|always|wait and|give it|believe|agree|love|like|hate|enjoy|want|look forward|end up|probably"
    r"|be honest|go"
)
_AT_ONCE: Final = (
    rf"{_IDLE}|help|explain|do my best|show|walk|provide|list|start|keep|remember|note|use|break|take|make"
    rf"|assist|answer"
    r"|describe|outline|summari[sz]e|suggest|recommend|assume|do|avoid|continue|adjust|guide|focus|respond|create|add"
    r"|write|give|tell|share|find|look|let"
)
TIMED: Final = Lazy(
    r"\b(?:tomorrow|tonight|today|later|monday|tuesday|wednesday|thursday|friday|saturday|sunday"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:this|next|every|each|coming) (?:\w+ )?(?:morning|afternoon|evening|night|week|weekend|month|year"
    r"|quarter|spring"
    r"|summer|autumn|fall|winter|sprint|time)|(?:in|within) (?:an?|the|one|two|three|four|five"
    r"|\d+) (?:\w+ )?(?:minutes?"
    r"|hours?|days?|weeks?|months?|moment)|after (?:lunch|work|dinner|the \w+|this|school)|before (?:lunch|the"
    r"|you|noon|\d)"
    r"|by (?:the|then|noon|midnight|eod|end|\d)|end of (?:the )?(?:day|week|month|year|\w+)|on the \d+|at \d+"
    r"|from now on"
    r"|until (?:then|the)|as soon as|over the weekend|asap|in (?:may|the"
    r" (?:morning|afternoon|evening)))\b",
    _I,
)
_WILL: Final = rf"i(?:'ll| will| shall) {_ADVERB}"
_VAGUELY: Final = (
    r"definitely|keep|check (?:it|them|this|that|those|these|out)|let you know|consider|look into|take (?:it|that|your)"
)
PROMISE: Final = Lazy(
    rf"{_WILL}(?!(?:{_IDLE}|{_VAGUELY})\b)(?:bring|send|e-?mail|mail|call|phone|text|review|finish|fix|book|buy"
    rf"|pay|pick up|drop"
    r"|deliver|prepare|organi[sz]e|order|ship|lend|return|submit|update|restart|repair|replace|forward|schedule"
    r"|cover|arrange"
    r"|handle|host|cook|bake|drive|pick you|meet you|join you|write|test|deploy|file|sign|invite|contact|remind"
    r"|follow up|get back"
    r"|take care of|set up|clean|print|draft|merge|help you (?:with|move)|work on|report|escalate)\b(?! it all"
    r"| that in mind)"
    r"|i (?:hereby )?(?:promise|swear|vow|guarantee|pledge) (?!i (?:don't|didn't|am|was|have)\b|it\b|that\b)"
    r"|i commit to\b|you have my word"
    r"|i (?:agreed|offered|volunteered|signed up|undertook) to\b"
    r"|i owe (?:you|him|her|them|[A-Z]\w+)\b"
    r"|(?:please )?(?:remind me|don't let me forget)\b"
    r"|let me (?:get back to you|follow up|check and get back)\b",
    _I,
)
PROMISE_OF_AN_ASSISTANT: Final = Lazy(
    rf"{_WILL}(?:send|e-?mail|mail|remind|follow up|get back|call|schedule|book|escalate|report|file|open a"
    rf"|notify|ping"
    r"|forward|look into|submit|order|reserve|message|contact|alert|check (?:back|in|again)|set (?:up|a reminder))\b"
    r"|i promise\b",
    _I,
)
TIMED_PROMISE_OF_AN_ASSISTANT: Final = Lazy(rf"{_WILL}(?!(?:be|need|see|assume|not|have)\b)[a-z]", _I)
TIMED_DUTY: Final = Lazy(
    rf"{_WILL}(?!(?:{_IDLE}|definitely consider)\b)[a-z]"
    rf"|i{_BE} {_ADVERB}going to (?!(?:{_IDLE}|the|an?|my|your|our|bed|work|school|sleep|cry|town|church|this"
    rf"|that)\b)[a-z]"
    rf"|(?:i|we) (?:{_ADVERB})?(?:have to|need to|must|should|gotta|ought to|are supposed to|plan to|intend to"
    rf"|aim to)\s+[a-z]"
    rf"|i(?:'ve| have) got to\s|i{_BE} (?:supposed|due|scheduled|planning|meant) to\s"
    rf"|we(?:'ll| will|'re going to| are going to) {_ADVERB}(?!(?:{_IDLE})\b)[a-z]",
    _I,
)

_IMPERATIVE: Final = (
    r"(?:add|adjust|allow|always|apply|archive|ask|assign|attach|avoid|back up|begin|book|boil|bring|build|call"
    r"|cancel|change"
    r"|check|choose|clean|clear|click|close|commit|compare|compile|configure|confirm|connect|contact|convert"
    r"|cook|copy|count"
    r"|cover|create|cut|delete|deploy|disable|disconnect|do not|don't|download|drain|drop|dry|edit|enable"
    r"|ensure|enter|escalate"
    r"|export|fetch|fill|find|fix|flush|fold|format|get|give|go|grab|grease|heat|hold|import|increase|inform"
    r"|insert|install"
    r"|invoke|keep|kill|label|launch|leave|let|lift|link|list|lock|log|look|lower|mail|make|mark|measure|merge"
    r"|message|mix"
    r"|mount|move|mute|never|notify|open|pack|page|pass|paste|pause|pin|ping|place|plug|post|pour|prefix"
    r"|prepare|press|print"
    r"|provide|pull|purge|push|put|raise|read|rebase|reboot|rebuild|recompile|record|redeploy|reduce|refresh"
    r"|reinstall|reload"
    r"|remove|rename|repeat|replace|reply|report|rerun|reset|resend|respond|restart|restore|retry|return|revert"
    r"|revoke|rinse"
    r"|roll back|rotate|run|save|scale|schedule|scrub|search|select|send|set|share|ship|shut|sign|skip|soak"
    r"|sort|spread|stage"
    r"|start|stir|stop|store|strip|switch|sync|tag|take|tell|test|tighten|transfer|trigger|trim|try|turn|type"
    r"|unplug|unset|update"
    r"|upgrade|upload|use|validate|verify|wait|warm|wash|wear|wipe|wrap|write)"
)
_DO: Final = (
    rf"(?:please )?(?:just |simply |first,? |then |always |never |try to |be sure to |make sure (?:to |you )"
    rf"|remember to )*{_IMPERATIVE}\b"
)
_SHOULD: Final = r"(?:you|we|one) (?:should|must|need to|have to|always|first)\b"
_WHEN: Final = r"(?:when|whenever|if|before|after|once|every time|each time|as soon as|unless|until|in case|on)"
_POLITE: Final = (
    r"(?!(?:if|when|whenever|once|in case) (?:you(?:'re| are|'d| would|'ve| have| ever)?(?: \w+)? (?:understand"
    r"|want|like|need|agree"
    r"|interested|done|decide|have|ready|any|know|wish|prefer|start|feel|get)|possible|yes|no|so|not|needed"
    r"|necessary)\b)"
)
"""Conversation, not knowledge: "if you need anything, ask"."""
_TELL: Final = r"(?!(?:please )?(?:let|tell|give|show|send) (?:me|us)\b)"
_ALONE: Final = (
    r"(?!(?:write|give|tell|let|make|send|share|find|provide|list|look|get|go|ask|read|take|keep|return|act"
    r"|describe)\b)"
)
PROCEDURE: Final = Lazy(
    rf"(?:please )?(?:always|never|don't ever|do not ever) (?:ever )?(?:answer|cite|respond|speak|assume|eat"
    rf"|{_IMPERATIVE})\b"
    r"|(?:from now on|in (?:the )?future|going forward)\b,? (?!i\b|we'll\b|we will\b|you\b(?! should| must| need))\S"
    r"|(?:please )?(?:make sure|be sure|remember|don't forget|be careful|take care) (?:to|that|you|not)\b(?! tell)"
    r".*\b(?:before|after|when|whenever|every|each|unless|until|once|while|without|if|first)\b"
    rf"|{_POLITE}{_WHEN} [^,]{{2,120}}, (?:{_TELL}{_DO}|{_SHOULD})"
    rf"|to [a-z]+ [^,]{{2,120}}, (?:{_TELL}{_DO}|{_SHOULD})"
    rf"|(?:please )?first(?:ly)?,? {_DO}.*\bthen\b"
    rf"|{_ALONE}{_TELL}{_DO}.*\b(?:before (?!long\b|then\b)|whenever|every time|each time|after each|after every)\b"
    r"|(?:the|my|our|one|a|an) (?:\w+ )?(?:way|trick|secret|procedure|fix|workaround|solution|recipe) (?:to|for|is"
    r"|was|here is|with|when)\b.*\b(?:is|was|to)\b"
    r"|what (?:fixed|worked|helped|solved|works|helps|fixes)\b.*\b(?:is|was)\b",
    _I,
)

LEADING: Final = Lazy(
    r"(?:for|after|in|at|on|about|regarding|during|with|as|since|over) [\w' -]{2,60}?,? (?=(?:i|we)(?:'\w+)? )", _I
)
"""What stands before the subject: "For the billing service we chose …"."""

NAMED: Final = Lazy(r"(?:my (?:full |first )?name(?:'s| is)|call me) ([A-Z][\w'-]+(?: [A-Z][\w'-]+)*)", _I)
HOME: Final = re.compile(r"[Ii] (?:\w+ ){0,2}?(?:live|moved|relocated) (?:in|to) [A-Z]")
BIRTHDAY: Final = Lazy(r"my birthday(?:'s| is)\b", _I)
FAVOURITE: Final = Lazy(r"my (?:all-time |absolute )?favou?rite ((?:[\w-]+ ?){1,3}?)(?:'s| is| are)\b", _I)
CUT: Final = Lazy(
    r"\s*;\s*|,?\s+(?:but|because|although|though|whereas)\s+|,\s+(?:so|and|while|which|then)\s+"
    r"|\s+and\s+(?=(?:i|i'm|i've|i'll|we|we've|my|please)\b)|\s+so\s+(?=(?:i|i'm|we|my)\b)"
    r"|,\s+(?=(?:i|i'm|i've|i'd|i'll|we|we've|we're|my|please|remind|let's|her name|his name|\w+ (?:is"
    r"|are) (?:much |more )*my)\b)"
    r"|\s+[\u2013\u2014-]+\s+",
    _I,
)
