"""Words that say nothing about what a question is after, in other languages than English.

Articles, pronouns, auxiliaries, prepositions and, as in the English list, question words. Only queries are filtered by
them. A language without a list here is searched by all its words, which BM25 weighs by how rare they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

STOP_WORDS_ABROAD: Final[Mapping[str, str]] = MappingProxyType(
    {
        "danish": (
            "af alle at blev bliver da de dem den denne der deres det dette dig din dit dog du efter eller en"
            " end er et fik for fra få har havde hende hendes her hos hun hvad hvem hvis hvor hvordan hvorfor"
            " hvornår han hans ham i ikke ind jeg jer jo kan kunne man mange med meget men mig min mit mod må"
            " ned noget nogle nu når og også om op os over på sig sin sit skal skulle som så til ud under var"
            " ved vi vil ville vor være været"
        ),
        "dutch": (
            "aan al alles als bij daar dan dat de der deze die dit doen door dus een en er ge geen had hebben"
            " heeft heb hem het hier hij hoe hun ik in is ja je jij jouw kan kon kunnen maar me men met mij"
            " mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen"
            " tot u uit uw van veel voor waar waarom wanneer was wat we wel welk welke werd wie wij wil worden"
            " wordt zal ze zei zelf zich zij zijn zo zou"
        ),
        "finnish": (
            "ei eivät emme en et ette että he hän ja jo joka joko jos jotka kaikki kanssa koska koskaan kuin"
            " kuinka kuka kun ketä kenen me mikä miksi milloin millä minne minkä minua minun minulla minä"
            " missä mistä mitä mukaan mutta myös ne niin nyt näin nämä ole olen olet oletko oli olin olisi"
            " olivat olla olleet ollut on ovat se sekä sen siitä sinä sitä tai te tämä tässä vai voi"
        ),
        "french": (
            "à ai aie as au aux avait avec avez avoir avons c ce ceci cela ces cet cette ceux chez comme"
            " comment d dans de des donc dont du elle elles en est et étaient était étant été être eu eux fut"
            " il ils j je l la là le les leur leurs lui m ma mais me mes moi mon n ne ni nos notre nous on ont"
            " ou où par pas pour pourquoi qu quand que quel quelle quelles quels qui quoi s sa sans se sera"
            " ses si son sont soit sur t ta te tes toi ton tu un une vos votre vous y"
        ),
        "german": (
            "aber alle als also am an auch auf aus bei beim bin bis bist da dabei dann das dass daß dein"
            " deine dem den der des dessen deren dich die dies diese diesem diesen dieser dieses dir doch dort"
            " du durch ein eine einem einen einer eines er es euch euer eure für gegen habe haben habt hat"
            " hatte hatten hattest hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist"
            " ja jede jedem jeden jeder jedes kann kannst können man mein meine meinem meinen meiner mich mir"
            " mit muss musst nach nicht nichts noch nun nur ob oder ohne sehr sein seine seinem seinen seiner"
            " seit sich sie sind so soll sollte über um und uns unser unsere unter vom von vor wann war waren"
            " warst warum was weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen"
            " wie wieder will wir wird wirst wo woher wohin worden wurde wurden würde zu zum zur zwischen"
        ),
        "italian": (
            "a abbiamo ad agli ai al alla alle allo anche avere aveva c che chi ci come con cosa cui da dai"
            " dal dalla dalle dallo degli dei del della delle dello di dove e è ed era erano essere fra gli ha"
            " hai hanno ho i il in io l la le lei li lo loro lui ma mi mia mie miei mio ne negli nei nel nella"
            " nelle no noi non nostra nostro o per perché più quale quali quando quanto quella quelle quelli"
            " quello questa queste questi questo se sei si siamo siete sono sta su sua sue sugli sui sul sulla"
            " suo suoi ti tra tu tua tuo un una uno vi voi vostro"
        ),
        "norwegian": (
            "alle at av bare begge ble bli blir både da de deg dei deim den denne der dere deres det dette di"
            " din disse ditt du eller en enn er et etter for fordi fra før få ha hadde han hans har henne"
            " hennes her hos hun hva hvem hver hvilken hvis hvor hvordan hvorfor i ikke inn ja jeg kan kom kun"
            " kunne man mange med meg men mer min mitt mot når ned noe noen nå og også om opp oss over på seg"
            " selv si sin sitt skal skulle slik som så til ut var ved vi vil ville vår være vært å"
        ),
        "portuguese": (
            "a ao aos aquela aquele aquilo as até com como da das de dela dele deles depois do dos e é ela"
            " elas ele eles em entre era eram essa esse esta está estão este eu foi foram há isso isto já lhe"
            " lhes mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nosso num"
            " numa o onde os ou para pela pelo por porque quais qual quando quanto que quem se sem ser seu"
            " seus são só sua suas também te tem tinha tu tua um uma umas uns você vocês"
        ),
        "russian": (
            "а без более больше был была были было быть в вам вас весь во вот все всего вы где да для до его"
            " ее ей если есть еще ещё же за зачем здесь и из или им их к как какая какие какой когда которая"
            " которые который кто куда ли мне много мой моя мы на над надо нам нас не него нее нет ни них но о"
            " об однако он она они оно от очень по под после потому почему при про с сам сейчас себя сколько"
            " со так также такой там то тогда того тоже только том ты у уже чего чем что чтобы чья эта эти это"
            " этого этот я"
        ),
        "spanish": (
            "a al algo algunas algunos ante antes como con contra cual cuál cuáles cuando cuándo cuánto de"
            " del desde donde dónde durante e el él ella ellas ellos en entre era eran eres es esa ese eso"
            " esta está están estas este esto estos fue fueron ha había han has hasta hay he la las le les lo"
            " los más me mi mis mucho muy nada ni no nos nosotros nuestra nuestro o os otra otro para pero"
            " poco por porque qué que quien quién quiénes se sea ser si sí sin sobre son soy su sus también"
            " tanto te tengo ti tiene tienen tu tú tus un una uno unos usted vosotros y ya yo"
        ),
        "swedish": (
            "alla allt att av bara blev bli blir de dem den denna deras dess det detta dig din ditt där då du"
            " efter ej eller en er era ett för från ha hade han hans har henne hennes hon honom hos hur här i"
            " icke ingen inte ja jag kan kunde man med mellan men mig min mitt mot mycket när någon något"
            " några nu och om oss på så sedan sig sin sitt ska skulle som till under upp ut utan vad var"
            " varför varje vem vems vi vid vilken vill vår vara varit vårt är över"
        ),
        "turkish": (
            "ama ancak bana bazı belki ben beni benim bir biri birkaç biz bize bizim bu buna bunu bunun"
            " burada çok çünkü da daha de değil diye en gibi hangi hem hep her hiç için ile ise kadar ki kim"
            " kimin mı mi mu mü nasıl ne neden nerede nereye niçin niye o olan olarak oldu olduğu on ona onlar"
            " onu onun sana sen seni senin siz şey şu tüm var ve veya ya yok"
        ),
    }
)
