"""Recall and precision of words on drawn screens: eight scripts, three font sizes, light and dark.

The screens are drawn here with the fonts of this machine (Debian's fonts-noto-core and fonts-noto-cjk), so
what is on them is known. `--sizes 30,42,56` pixels; at 420 dpi these are 11, 16 and 21 sp.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
import unicodedata
from collections import Counter
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from handrail.screen.node import Bounds, DrawnPart
from handrail_vision.reader import Reader, png_of
from handrail_vision.recognise import Line

NOTO, CJK = (
    Path("/usr/share/fonts/truetype/noto"),
    Path("/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc"),
)
FONTS = {
    "Arabic": (NOTO / "NotoSansArabic-Regular.ttf", 0),
    "Devanagari": (NOTO / "NotoSansDevanagari-Regular.ttf", 0),
    "Japanese": (CJK, 0),
    "Korean": (CJK, 1),
    "Chinese": (CJK, 2),
}
PLAIN = (NOTO / "NotoSans-Regular.ttf", 0)
PHRASES = {
    "Latin": "Einstellungen|Zahlung bestätigen|Cancel|Añadir al carrito|Überweisen 250,00 €|Sign out|"
    "Créer un compte|Delivery to Lisbon|Nachricht senden|Pay 42.50 €|Conta corrente|"
    "Ödemeyi tamamla|Żądanie zwrotu|Turn on notifications",
    "Cyrillic": "Настройки|Подтвердить оплату|Отмена|Добавить в корзину|Перевести 250 рублей|Выйти|"
    "Создать аккаунт|Доставка в Казань|Отправить сообщение|Оплатить сейчас|Налаштування|"
    "Надіслати гроші|Удалить аккаунт|Включить уведомления",
    "Greek": "Ρυθμίσεις|Επιβεβαίωση πληρωμής|Ακύρωση|Προσθήκη στο καλάθι|Μεταφορά χρημάτων|Αποσύνδεση|"
    "Δημιουργία λογαριασμού|Παράδοση στην Αθήνα|Αποστολή μηνύματος|Πληρωμή τώρα|"
    "Διαγραφή λογαριασμού|Ειδοποιήσεις|Αναζήτηση|Βοήθεια",
    "Chinese": "设置|确认付款|取消|加入购物车|转账 250 元|退出登录|创建账户|送货到上海|发送消息|立即支付|"
    "删除账户|打开通知|搜索|帮助中心",
    "Japanese": "設定|支払いを確認|キャンセル|カートに入れる|送金する|ログアウト|アカウントを作成|"
    "東京へ配送|メッセージを送信|今すぐ支払う|アカウントを削除|通知をオンにする|検索|ヘルプ",
    "Korean": "설정|결제 확인|취소|장바구니에 담기|송금하기|로그아웃|계정 만들기|서울로 배송|"
    "메시지 보내기|지금 결제|계정 삭제|알림 켜기|검색|도움말",
    "Arabic": "الإعدادات|تأكيد الدفع|إلغاء|أضف إلى السلة|تحويل الأموال|تسجيل الخروج|إنشاء حساب|"
    "التوصيل إلى القاهرة|إرسال رسالة|ادفع الآن|حذف الحساب|تشغيل الإشعارات|بحث|مساعدة",
    "Devanagari": "सेटिंग्स|भुगतान की पुष्टि करें|रद्द करें|कार्ट में जोड़ें|पैसे भेजें|साइन आउट|खाता बनाएं|"
    "दिल्ली में डिलीवरी|संदेश भेजें|अभी भुगतान करें|खाता हटाएं|सूचनाएं चालू करें|खोजें|सहायता",
}


def drawn_screen(
    script: str, size: int, dark: bool, seed: int
) -> tuple[Image.Image, list[tuple[str, Bounds]]]:
    """A page of texts, every third one as a button."""
    rng = random.Random(f"{script} {size} {seed}")
    phrases = PHRASES[script].split("|")
    rng.shuffle(phrases)
    ground, ink = ("#121212", "#e3e3e3") if dark else ("#fdfbff", "#1c1b1f")
    image = Image.new("RGB", (1080, 2160), ground)
    draw = ImageDraw.Draw(image)
    path, index = FONTS.get(script, PLAIN)
    font = ImageFont.truetype(str(path), size, index=index)
    truth, x, y = [], 40, 60
    for number, phrase in enumerate(phrases):
        width = int(draw.textlength(phrase, font=font))
        if x + width > 1040:
            x, y = 40, y + size * 3
        box = (x, y, x + width, y + round(size * 1.35))
        if number % 3 == 0:
            colour = rng.choice(["#1a73e8", "#0b8043", "#b3261e", "#6750a4"])
            draw.rounded_rectangle((box[0] - 24, box[1] - 18, box[2] + 24, box[3] + 18), 20, fill=colour)
        draw.text((x, y), phrase, font=font, fill="#ffffff" if number % 3 == 0 else ink)
        truth.append((phrase, Bounds(*box)))
        x += width + size * 3
    return image.crop((0, 0, 1080, y + size * 3)), truth


def words(text: str, script: str) -> list[str]:
    """As a person counts them; where spaces are missing, or Tesseract's own, the characters."""
    plain = unicodedata.normalize("NFC", text).casefold()
    if script in ("Chinese", "Japanese", "Korean"):
        return [char for char in plain if char.isalnum()]
    return [
        "".join(char for char in word if char.isalnum() or unicodedata.category(char)[0] == "M")
        for word in plain.split()
    ]


def texts_of(parts: list[DrawnPart]) -> list[DrawnPart]:
    return [text for part in parts for text in (part.inside or (part,)) if text.text]


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--sizes", default="30,42,56")
    options.add_argument("--scripts", default=",".join(PHRASES))
    chosen = options.parse_args()
    print("| script | px | theme | words | recall | precision | lines that hit another | engine | CPU s |")
    print("|---|---|---|---|---|---|---|---|---|")
    for script in chosen.scripts.split(","):
        for size in map(int, chosen.sizes.split(",")):
            for dark in (False, True):
                print(_row(script, size, dark), flush=True)


def _row(script: str, size: int, dark: bool) -> str:
    image, truth = drawn_screen(script, size, dark, 1)
    png = png_of_image(image)
    reader = Reader()
    box = Bounds(0, 0, *image.size)
    began = cpu()
    parts = reader.read(png, [box], *image.size)[0]
    took = cpu() - began
    read = texts_of([part for part in parts if part.kind != "shape"])
    wanted = Counter(word for phrase, _ in truth for word in words(phrase, script))
    got = Counter(word for part in read for word in words(part.text, script))
    hits = sum((wanted & got).values())
    wrong = sum(_hits_another(part, truth, script) for part in read)
    engines = Counter(_engine(line) for memory in reader._memory.values() for line in memory.lines)
    most = ", ".join(f"{name} {count}" for name, count in engines.most_common(3))
    theme = "dark" if dark else "light"
    return (
        f"| {script} | {size} | {theme} | {sum(wanted.values())} | {hits / sum(wanted.values()):.1%} | "
        f"{hits / max(1, sum(got.values())):.1%} | {wrong}/{len(read)} | {most} | {took:.1f} |"
    )


def _engine(line: Line) -> str:
    return line.engine


def _hits_another(part: DrawnPart, truth: list[tuple[str, Bounds]], script: str) -> bool:
    """Whether a tap at a text that reads exactly as one that was drawn lands on another one."""
    own = "".join(words(part.text, script))
    for phrase, box in truth:
        if "".join(words(phrase, script)) == own:
            x, y = part.bounds.center
            return not Bounds(box.left - 24, box.top - 18, box.right + 24, box.bottom + 18).holds(x, y)
    return False


def png_of_image(image: Image.Image) -> bytes:
    import numpy as np  # noqa: PLC0415

    return png_of(np.ascontiguousarray(np.asarray(image)[:, :, ::-1]))


def cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    began = time.monotonic()
    main()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"\npeak memory {peak} MB, {time.monotonic() - began:.0f} s")
