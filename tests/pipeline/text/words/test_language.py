from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawlctl.pipeline.text.words.language import declared_language, detected_language, language_of

# The first article of the Universal Declaration of Human Rights and a sentence more.
TEXTS = {
    "ar": """يولد جميع الناس أحرارا متساوين في الكرامة والحقوق، وقد وهبوا عقلا وضميرا وعليهم أن يعامل
        بعضهم بعضا بروح الإخاء. لكل إنسان حق التمتع بهذه الحقوق دون أي تمييز من هذا النوع أو من غير ذلك
        على أساس الرأي.""",
    "cs": """Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a
        svědomím a mají spolu jednat v duchu bratrství, aby se každý, kdo je v zemi, cítil jako doma,
        ale také tak byl.""",
    "da": """Alle mennesker er født frie og lige i værdighed og rettigheder. De er udstyret med fornuft
        og samvittighed, og de bør handle mod hverandre i en broderskabets ånd. Det er ikke noget, man
        kun skal tale om efter et møde.""",
    "de": """Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und
        Gewissen begabt und sollen einander im Geiste der Brüderlichkeit begegnen.""",
    "el": """Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι
        προικισμένοι με λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα
        αδελφοσύνης.""",
    "en": """All human beings are born free and equal in dignity and rights. They are endowed with
        reason and conscience and should act towards one another in a spirit of brotherhood.""",
    "es": """Todos los seres humanos nacen libres e iguales en dignidad y derechos y, dotados como están
        de razón y conciencia, deben comportarse fraternalmente los unos con los otros.""",
    "fa": """تمام افراد بشر آزاد به دنیا می آیند و از لحاظ حیثیت و حقوق با هم برابرند. همه دارای عقل و
        وجدان هستند و باید نسبت به یکدیگر با روح برادری رفتار کنند. این حق برای همه است.""",
    "fi": """Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan. Heille on
        annettu järki ja omatunto, ja heidän on toimittava toisiaan kohtaan veljeyden hengessä, ja se on
        myös niin kuin sen on oltava.""",
    "fr": """Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de
        raison et de conscience et doivent agir les uns envers les autres dans un esprit de fraternité.""",
    "hu": """Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel
        és lelkiismerettel bírván, egymással szemben testvéri szellemben kell hogy viseltessenek, és ez
        nem csak egy szó.""",
    "it": """Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. Essi sono dotati di
        ragione e di coscienza e devono agire gli uni verso gli altri in spirito di fratellanza.""",
    "ja": (
        "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は"
        "、理性と良心とを授けられており、互いに同胞の精神をもって行動しなければならない。"
    ),
    "ko": """모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. 인간은 천부적으로
        이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다.""",
    "nl": """Alle mensen worden vrij en gelijk in waardigheid en rechten geboren. Zij zijn begiftigd met
        verstand en geweten, en behoren zich jegens elkander in een geest van broederschap te gedragen.""",
    "no": """Alle mennesker er født frie og med samme menneskeverd og menneskerettigheter. De er utstyrt
        med fornuft og samvittighet og bør handle mot hverandre i brorskapets ånd. Det er ikke noe å
        bare snakke om etter et møte.""",
    "pl": """Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni
        obdarzeni rozumem i sumieniem i powinni postępować wobec innych w duchu braterstwa, a to nie
        jest tylko słowo.""",
    "pt": """Todos os seres humanos nascem livres e iguais em dignidade e em direitos. Dotados de razão
        e de consciência, devem agir uns para com os outros em espírito de fraternidade.""",
    "ro": """Toate ființele umane se nasc libere și egale în demnitate și în drepturi. Ele sunt
        înzestrate cu rațiune și conștiință și trebuie să se comporte unele față de altele în spiritul
        fraternității.""",
    "ru": """Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом
        и совестью и должны поступать в отношении друг друга в духе братства.""",
    "sv": """Alla människor är födda fria och lika i värde och rättigheter. De är utrustade med förnuft
        och samvete och bör handla gentemot varandra i en anda av broderskap.""",
    "th": "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกันในเกียรติศักดิ์และสิทธิ ต่างมีเหตุผลและมโนธรรม",
    "tr": """Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana
        sahiptirler ve birbirlerine karşı kardeşlik zihniyeti ile hareket etmelidirler, çünkü bu bir
        haktır ve daha çok şey olarak kalır.""",
    "uk": """Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом
        і совістю і повинні діяти у відношенні один до одного в дусі братерства.""",
    "vi": """Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm và quyền. Mọi con người
        đều được tạo hóa ban cho lý trí và lương tâm và cần phải đối xử với nhau trong tình anh em.""",
    "zh": "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。",
}


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_known_by_its_words_or_script(language: str) -> None:
    assert detected_language(TEXTS[language]) == language


@pytest.mark.parametrize("language", ["ru", "ja", "el", "ar"])
def test_names_and_code_in_latin_letters_do_not_mislead(language: str) -> None:
    code = "import os, sys; print(value.strip()) "
    assert detected_language(TEXTS[language] + code * (len(TEXTS[language]) // 60)) == language


@pytest.mark.parametrize(
    "text", ["", "Berlin", "404", "x = y + z; " * 50, "lorem ipsum dolor sit amet " * 30, "١٢٣"]
)
def test_what_is_no_plain_language_is_unknown(text: str) -> None:
    assert detected_language(text) == ""


def test_what_is_declared_decides_only_when_the_text_does_not() -> None:
    assert language_of(TEXTS["de"], "en") == "de"
    assert language_of("Berlin", "de") == "de"
    assert language_of("Berlin") == ""


def test_the_middle_of_a_long_text_is_read_too() -> None:
    menu = "Home Login Sitemap Index Search About Contact " * 60
    assert detected_language(menu + (TEXTS["fr"] + " ") * 30) == "fr"


@pytest.mark.parametrize(
    ("tag", "code"),
    [
        ("pt-BR", "pt"),
        ("EN", "en"),
        ("de_AT", "de"),
        ("nb-NO", "no"),
        ("zh-Hant-TW", "zh"),
        ("yue", "zh"),
        ("iw", "he"),
        ("fr, en", "fr"),
        ("gsw", ""),
        ("english", ""),
        ("x", ""),
        ("", ""),
        (None, ""),
    ],
)
def test_a_language_tag_names_a_language(tag: str | None, code: str) -> None:
    assert declared_language(tag) == code


@given(st.text(max_size=300))
def test_whatever_is_written_is_judged(text: str) -> None:
    assert len(detected_language(text)) in {0, 2}
