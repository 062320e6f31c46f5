"""The texts that the model in the page is tried with: 200, always the same."""

import random

from attnlab import minilm
from attnlab.sentences import HELD_OUT, PRACTICE

OWN = [" ".join(sentence.words) for sentence in PRACTICE + HELD_OUT]
ODD = [
    *("", " ", "a", "...", "[MASK] and [CLS]x[SEP]", "ΣΑΣ και ΣΊΣΥΦΟΣ", "İstanbul ǅ ﬁne Ⅷ"),
    *("naïve café, Ångström!", "don't  stop\tnow\nplease", "x" * 100, "x" * 101, "3.14 % of $5"),
    *(
        "🙂 is an emoji 👩‍👩‍👧",
        "中文字符 mixed",
        "こんにちは世界",
        "안녕하세요 세계",
        "مرحبا بالعالم",
    ),
    *(
        "Привет, мир",
        "हिन्दी भाषा",
        "ไทย",
        "שלום עולם",
        "zero\u200bwidth\u00adsoft\u2028line\0nul\ufffd",
    ),
    *("“quotes” – dashes… ¿qué?", "snake_case @user #tag http://a.b/c?d=e", "`~^|<>\\"),
    *(
        "unbelievably antidisestablishmentarianism",
        "ﷺ ½ ™ ²",
        "a\u0301\u0302 b\u20d7",
        "word " * 90,
    ),
]


def texts(n: int = 200) -> list[str]:
    """Give the odd ones first, then the page's sentences and random words, mixed."""
    draw = random.Random(0)
    words = minilm.vocabulary()
    drawn = [
        " ".join(draw.choices(words, k=draw.choice((3, 9, 16, 30, 62)))).replace("##", "")
        for _ in range(200 - len(OWN) - len(ODD))
    ]
    rest = OWN + drawn
    draw.shuffle(rest)
    return (ODD + rest)[:n]
