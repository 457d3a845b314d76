"""The words that are known by heart, by language; whatever is not here is read as plain text."""
# ruff: noqa: RUF001 - punctuation of other languages

from collections.abc import Mapping

from porch.claims.questions.question import Language

# What people say instead of a yes, a no or a stop; only the whole reply counts. A word that means
# something else elsewhere is in no list: `nu` is a no in one language, and now in another.
YES: Mapping[str, tuple[str, ...]] = {
    "en": (
        *("y", "yes", "yes please", "yep", "yeah", "sure", "ok", "okay", "confirm", "confirmed"),
        *("i confirm", "approve", "approved", "agreed", "lgtm", "looks good", "go", "go ahead"),
        *("go on", "continue", "proceed"),
    ),
    "zh": (
        *("是", "是的", "对", "對", "好", "好的", "行", "可以", "没问题", "沒問題", "确认", "確認"),
        *("同意", "通过", "通過", "继续", "繼續", "请继续", "請繼續", "确认继续", "確認繼續"),
    ),
    "de": ("ja", "jawohl", "ja bitte", "einverstanden", "genehmigt", "in ordnung", "weiter"),
    "fr": ("oui", "d'accord", "d’accord", "je confirme", "approuvé", "oui merci"),
    "es": ("sí", "si", "de acuerdo", "vale", "confirmo", "aprobado", "adelante"),
    "pt": ("sim", "concordo", "aprovado", "pode continuar"),
    "it": ("sì", "d'accordo", "d’accordo", "va bene", "confermo", "approvato"),
    "nl": ("akkoord", "ga door", "goedgekeurd"),
    "pl": ("tak", "zgoda", "zgadzam się", "potwierdzam"),
    "cs": ("ano", "souhlasím", "áno"),
    "ru": ("да", "согласен", "согласна", "хорошо", "подтверждаю", "продолжай", "продолжайте"),
    "uk": ("згоден", "згодна"),
    "north": ("kyllä", "joo", "godkänt", "godkendt"),
    "tr": ("evet", "tamam", "onaylıyorum"),
    "el": ("ναι",),
    "ja": ("はい", "ええ", "うん", "承認", "承認します", "同意します"),
    "ko": ("네", "예", "좋아요", "동의합니다", "승인"),
    "ar": ("نعم", "موافق"),
    "he": ("כן",),
    "hi": ("हाँ", "हां"),
    "vi": ("có", "đồng ý"),
    "id": ("setuju",),
    "signs": ("👍", "👍🏻", "👍🏼", "👍🏽", "👍🏾", "👍🏿"),
}
NO: Mapping[str, tuple[str, ...]] = {
    "en": (
        *("n", "no", "nope", "no thanks", "not yet", "not now", "decline", "declined", "reject"),
        *("rejected", "disagree", "request changes"),
    ),
    "zh": (
        *("否", "不", "不是", "不对", "不對", "不行", "不好", "不要", "不可以", "不同意", "拒绝"),
        *("拒絕", "要求修改", "还不行", "還不行"),
    ),
    "de": ("nein", "nein danke", "nicht einverstanden", "abgelehnt", "noch nicht"),
    "fr": ("non", "non merci", "pas d'accord", "pas d’accord", "pas encore"),
    "es": ("no gracias", "todavía no", "rechazado"),
    "pt": ("não", "nao", "ainda não"),
    "it": ("non ancora", "rifiuto"),
    "nl": ("nee", "nog niet", "niet akkoord"),
    "pl": ("nie", "jeszcze nie"),
    "cs": ("ne", "nesouhlasím"),
    "ru": ("нет", "не согласен", "не согласна", "не надо"),
    "uk": ("ні",),
    "north": ("nej", "nei", "ei"),
    "tr": ("hayır", "hayir"),
    "el": ("όχι",),
    "ja": ("いいえ", "いや", "だめ", "却下", "拒否"),
    "ko": ("아니요", "아니오", "아니"),
    "ar": ("لا",),
    "he": ("לא",),
    "hi": ("नहीं",),
    "vi": ("không",),
    "id": ("tidak",),
    "signs": ("👎", "👎🏻", "👎🏼", "👎🏽", "👎🏾", "👎🏿"),
}
STOP: Mapping[str, tuple[str, ...]] = {
    "en": ("stop", "stop here", "stop it", "abort", "halt", "cancel", "quit"),
    "zh": (
        "停",
        "停止",
        "停下",
        "停下来",
        "停下來",
        "中止",
        "终止",
        "終止",
        "取消",
        "暂停",
        "暫停",
    ),
}
# How the place for a text is called where the author of a question does not say it.
FREE_LABELS: Mapping[Language, str] = {"en": "Other (type your answer)", "zh": "其他（可填写）"}
# A last option with one of these names is that place already, so that no second one is added.
WRITTEN_FREE_LABELS = (
    *("Other", "Other...", "Other (type your answer)", "Other (please specify)", "Custom answer"),
    *("其他", "其它", "其他（可填写）", "其他（请填写）", "自由输入", "自定义", "自定义答案"),
)
RECOMMENDED: Mapping[Language, str] = {"en": "(Recommended)", "zh": "（推荐）"}
# What is said around the questions of a round.
WORDS: Mapping[Language, Mapping[str, str]] = {
    "en": {
        "example": "For example: {0}",
        "several": "Several are possible, for example: {0}",
        "letter": "Answer with a letter.",
        "letter_or_text": "Answer with a letter, or write your own answer.",
        "text": "Write your answer.",
        "labels": "Answer each question by its label:",
        "long": "An answer can have several lines; a line of six hyphens (------) ends it.",
        "answer": "<answer>",
        "refused": "Not possible: {0}",
    },
    "zh": {
        "example": "例如：{0}",
        "several": "可以多选，例如：{0}",
        "letter": "请用字母回答。",
        "letter_or_text": "请用字母回答，或直接写出你的答案。",
        "text": "请写出你的答案。",
        "labels": "请按标签回答每个问题：",
        "long": "答案可以有多行；单独一行六个连字符（------）表示结束。",
        "answer": "<答案>",
        "refused": "不可用：{0}",
    },
}
