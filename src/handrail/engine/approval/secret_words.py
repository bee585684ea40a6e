"""Whether a question asks for what a model must not read: by its words, where no capability says so. Pure.

A word too many costs little: the answer is then a placeholder, which can be typed and not read.
"""

from __future__ import annotations

import re

from handrail.engine.policy.skeleton import likenesses

_PARTS = (
    "passw|passphrase|pass ?code|pass ?key|credential|authent|verifica|one[ -]?time|digits|iban",
    "security question|maiden name|social security|seed phrase|(?:recovery|seed) words",
    "(?:api|private|recovery|access|security|license|licence)[ -]?key",
    "card (?:no|num)|credit card|debit card|expir(?:y|ation) date",
    "secre|segret",
    "kennwort|geheim|zugangsdaten|verifiz|einmal|kreditkarte|kartennummer",
    "wachtwoord|losenord|salasana|mot de passe|carte bancaire|numero de (?:carte|tar)",
    "contrasena|senha|parola|haslo|heslo|jelszo|sifre",
    "парол|секрет",
    "कोड|पासवर्ड|पिन",
    "كلمة (?:المرور|السر)|رمز",
    "パスワード|暗証|認証|コード",
    "密码|密碼|验证码|驗證碼|口令",
    "비밀번호|암호|인증",
)
"""Of words, since some languages join them; without accents."""
_ENDS = (
    "(?:code|kode|codice|codigo|код|kod|kodu|koodi)(?:s|n|d|i|e|a|y|ow)?",
    "(?:token|pin|puk|tan)s?",
    "(?:log|sign)(?:ging|ning)?[ -]?(?:in|on)",
)
_WHOLE = "otp|totp|2fa|mfa|cvv|cvc|csc|ssn|nip|clave"
_SECRET = re.compile(rf"{'|'.join(_PARTS)}|(?:{'|'.join(_ENDS)})\b|\b(?:{_WHOLE})\b")


def asks_for_a_secret(*texts: str) -> bool:
    """Also where it is written with letters that only look like these."""
    return any(_SECRET.search(seen) for text in texts for seen in likenesses(text.casefold()))
