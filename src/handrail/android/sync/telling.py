"""Which names of React components say what a thing is, and which only what it is made of."""

from __future__ import annotations

import re

_MATERIAL = re.compile(
    r"View|Text|Image|ImageBackground|Button|Icon|IconButton|VectorIcon|Fragment|Component|Slot|Item|Row|Column"
    r"|Cell|Box|Stack|HStack|VStack|Center|Flex|Surface|Ripple|Modal|Switch|TextInput|Suspense|StrictMode|Profiler"
    r"|Svg|G|Path|Circle|Ellipse|Line|Rect|Polygon|Polyline|Defs|Use|Symbol|Mask|ClipPath|Stop|Pattern|TSpan"
    r"|App|Root|Anonymous|Unknown|Layout|Page|Header|Footer|Content"
)
_MADE_OF = re.compile(
    r"(?:RCT|RNS|RNSVG|Animated|Virtualized|Touchable|Pressable)\w*"
    r"|(?:[Ww]ith|Themed|Styled)[A-Z]\w*"
    r"|\w+(?:View|List|Screen|Provider|Consumer|Context|Navigator|Boundary|Container|Wrapper|Gradient|Handler"
    r"|Detector|Layout)"
)


def bare(name: str) -> str:
    """`memo(ArrowLeft)`, `ForwardRef(ArrowLeft)` and `withTheme(ArrowLeft)` are ArrowLeft."""
    return name.rstrip(")").rpartition("(")[2]


def is_telling(name: str) -> bool:
    """ArrowLeft, SendButton; neither Pressable nor HomeScreen, and no letter that a minifier left."""
    return len(name) > 1 and not _MATERIAL.fullmatch(name) and not _MADE_OF.fullmatch(name)
