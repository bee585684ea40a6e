"""Glyph widths of the bundled font: a table, so that text is measured without loading a font.

Generated from the files in `paint/fonts/`; `tests/test_paint_metrics.py` compares the two.
"""

from __future__ import annotations

import base64
import struct
import zlib

UNITS_PER_EM = 2048
# From the baseline to the top and the foot of a line, the font's own padding included, as TextView has it.
ABOVE, BELOW = 2163, 555

# First and last code point of each run of characters that the font has.
_RUNS = (
    (0x20, 0x7E),
    (0xA0, 0x17F),
    (0x192, 0x192),
    (0x1A0, 0x1A1),
    (0x1AF, 0x1B0),
    (0x218, 0x21B),
    (0x2C6, 0x2DD),
    (0x300, 0x304),
    (0x307, 0x30C),
    (0x370, 0x377),
    (0x37A, 0x37F),
    (0x384, 0x38A),
    (0x38C, 0x38C),
    (0x38E, 0x3A1),
    (0x3A3, 0x3E1),
    (0x3F0, 0x45F),
    (0x490, 0x491),
    (0x4D8, 0x4E9),
    (0x1E00, 0x1EFF),
    (0x2000, 0x2027),
    (0x202F, 0x205F),
    (0x2070, 0x2071),
    (0x2074, 0x208E),
    (0x2090, 0x209C),
    (0x20A0, 0x20BE),
    (0x2100, 0x2101),
    (0x2103, 0x2103),
    (0x2105, 0x2106),
    (0x2109, 0x2109),
    (0x2113, 0x2113),
    (0x2116, 0x2117),
    (0x211E, 0x2123),
    (0x2125, 0x2126),
    (0x212A, 0x212B),
    (0x212E, 0x212E),
    (0x2132, 0x2132),
    (0x213B, 0x213B),
    (0x214D, 0x214D),
    (0x214F, 0x215F),
    (0x2202, 0x2202),
    (0x2206, 0x2206),
    (0x220F, 0x220F),
    (0x2211, 0x2212),
    (0x221A, 0x221A),
    (0x221E, 0x221E),
    (0x222B, 0x222B),
    (0x2248, 0x2248),
    (0x2260, 0x2260),
    (0x2264, 0x2265),
    (0x25CA, 0x25CA),
    (0xFFFD, 0xFFFD),
)
# Little-endian 16-bit widths in font units, deflated, base 85.
_REGULAR = (
    "c-oDYdu$X{6vlhc`OclSAOT~bO)yvyMJi#VY_nieFqOzl8ZaSPND~q$r7bEg5qX5BkN^cDODmyZt@7{@NHD~%C<a{-HZ6oDCLpi="
    "fl3eyQm6zQS)%85S-Q0S!~OERGrO}hJLlf-JF{`qpF;E}D$yeUpvWAiW-8|ms5Ln>m|o*b^wdprzzo1Vj6xHS@`4gaK*q}^l%Ybx"
    "GLlLll8?9zOO^ChZXkjv{E{J=9wden7($bH2+iVpUPc921wYmx7frMZ#b`IJrk{@RN)ggyoA4E7p@A0S60_~#X71oH-8NxbEOB$&"
    "%*AI2%V=CTSMdf<vhVW`{3dc}vfan`=vA~)8?B~lwDKT|n>O0R5pI!y9b=DkP`b3-3up}qjiiJM#nq711XPLtzG66pBPdAG5$o3)"
    "61r;=IsjKgQZ=Z?!ux9GdL<|YND>hLLyVV9DU>F?o7^5$$f}13OEEr>wR+!oO&9H*+ikXmO8^q-hb73@nN6^s@)1);P*_Tlq!b&a"
    "TI&owV5j$rcSF}8Nd#F)C8}!^MU>puFALEdnI7Ai*6Y^3gOkL~A*z&GgygRWS31h?@tw4NoJ%=$C+$Vfp<HS-jb?}{NKPZDl-tdI"
    "%BCpCDXrJn3Y_IA8o9|dnXvqbgT@c1H1%db>Z|iTh;Aa&ZlSI6f)q&|ITu%8k2>Il&O^DnSY(_y57+1{gw@A2dVeu|E0AiLp~qub"
    "i|M+ebyTQ(hrzl(9m90ote-8xTe^3NuX6~;bZ;8g<9QTfx4exVvdy})Li&E26{*B7<f)7E5R-{EN8GGC2b5tj{y;W-woHcUxBO@|"
    "<+7c(^C8shH{v!XCw1%OT$^SqFkd2_?kz!$?-Sn|y?R)D(y0FK(^(<xCggb$tuZW5%U(&O)YTV|D10)~LN3U1S?5K($Luvdf4)5H"
    "WvD+Fp%!!aw7M_L_D6&2b$pCA`B3X<=*;kW&1OtG_&ZI*GW(JJ8##8CtK81(OhvJtKTX%UU6avjn(bv<t=DK!Uo>bp*~0522uGfm"
    "Wh3a1&sAY*=)}!QxmM|t64zf#l1R#$9`u%)GVL(Qv~=ezout#Wt1~4@y0VfWZs8?K&5R>8F^<0aJC4-k^p>8k1a;9{f->Y1J6w{w"
    "1D$h+OIT{YiuGD-o4G*izD!M&EgO;AasCgz&0{LbPSd^qR9wcpldQ{SzdMOe(Zz8&%<I)hFUz}l9MAb2-%vWuF`5b5WqwLY{%9Ia"
    "wd#OzcAQP;PkD#gVd|9A)Ivw-p5`KiFKH_NHAlHXDoxz%^~O9>WI{9$r_3E4hw=hiKo{^N>iBCGE4GAZOA+tpDt(TGymN9+HgYSU"
    "!5MXY8i_rx$7YJyt=Pjk@;&Bbg&BnnI<7G8iF44nXHZf>?w}63Wp0_docejs<8yc-FW})iPT`ldlBZ+}FXcWwTvyU%zD#=tyqR{3"
    "eaClAvh7ZNHm}qaPffpq3sNDoH8%nIoqtt_4b|R1%}$hjP5TwODAv0wt+Ld{c&u--oglZ6E-S_8Gr9^hM6_RI$YNyJpS^nT33dE$"
    "zJcC3?-#q@TjaHS7j4jc#-6pOY>B2kq<wR<e4+i}7{>Y@rPZ3|0s8O2hk)-t<c=Ks"
)
_MEDIUM = (
    "c-obge@xV69LIe=zn=3BCM=sSOjy_o4FZ=1hJVClYq3`Tz|c^0Ha07NoLJ5nH8p5wCgLD(&UBm$h5i7gn$6m5w$`+nVxrZx$RaG8"
    "CfN~I+UL3R<OKeS&tBi}m+!NC?(_LP@AvcEHFGxv;T&zIZoZQjm}77XHsMQj#56%6Ou@}GJkp`pq|(bYnR+nG&f#P(;OSgT6;#RX"
    "Tm*jdaVZ(w#<e_AxlX4kO!=I{KAXbb)JapJ45z{ixDy+ol-5%o)ldm_L4f>}1O~G8+Ao!~MaSNt6L1%`!fJ|OA6xxSOKkwq2DA8@"
    "Nr!6sfOhdC^sgD98Z4G=cn()k6BJ7reON*fh`>%bL>I9LQuTSSj-TKu@|5)893G4sTc9<>q6lJ9#;%5V6jKf7--vEHM(3$CAwH2j"
    "tsxd^5R1L!YKX@+3ef5s(SzH`eSay%Dd4<Yn9gZj#uqi4l3`SG;1=51uhePYX)s7q^xh%K+SPl&$JrFrJd+?sNI4JB(i70el@zCv"
    "8g#x|-g1-o?8ElDu0fpBbQdKO*0l*!C%Ah)ucndk**@)954yFtH%W$*u!(omJKT43re55S877QtU^!%%CviEffh*>UDby$f7xSSS"
    "li&b64reg~M~(Qmo-W|Glueh+CDXzm)2AknTx6&=7eb--y9j=zvC<4XcqXsnR&XkQkq)Z@I<=EkI_^_dI}O)s7xt@;>ovb_`khnw"
    "T`t%0Zq@7(UC~xpqEDaE7=2zsX?hLmyC6MBhg7k*>AGLhcllILIXZrVm(o#g6!)nu`hTPNcs+Gc6@9OqV!zC1*LA0W3YtXsaRvRY"
    "`8>!QG=BqC+=z{MjJA`@?rT1)cNb2z*R_HLd^)OLKLtEnJ>@!k3wya$_3epPXr-1ywu@Ty{k{6$*mjQ9SHNNN@-vdc103L;_Nu)@"
    "2E_6#o@@J6H`TP2p2mJv-&z@`N($0S+CeBmts@xqa0Gkslsfb)&Ad*2lkvP#meCA)O;$x+;n&a4&~;8yRT}7&pCq7j1XUNVTOkba"
    "4043*TIr&3)J%Id&tMeSlPXoFb4s#yEKbZRHNzOmH5IzU47%l3F2e=*8GeYmB+j5$Vi?;maS}b_NOX*2qUPpEbk0cb8FbJfBRMFC"
    "Bj|8W8cK@x+~FLS=r6y{)yF+ps&!w0E-1OtzyHHXeM}_2(+sUY5$Ext#Ore2A4+Ve7$jYuSEVi1ovww(QkKW@A$XzOyh^zcGA9$9"
    "-vmvtk+L{fa^)d>8xNb0%yF~NjKvA)!D+ZqXZivb(PX%a&HTB!X7<^|qZgPU^y{u&kAKlRtb}DSlOLla*p8W!DRZ%mm+M(o2V3E&"
    "^@>*xU@G-$9Kj68lwLf8uW+VJ;-k1!{-NE}VH)V5UOROD2%ItQ42nk~4!{76(pZRz?}v}i!`Zk3r|Wf*^1jLCMYs;rFh_R*=lKdf"
    "`TE5#2c^N2C2z_eJ)8Hai`RJ5Il`5^fxlFL%+qd!=>gh9+hs9VtJ^2Y7|F0bJX$u%k9fZ)UtZTUdc2<9qdA**Q8}mbY`$IRe^k7l"
    "F&?p(<xdaU<Mt0}w(IOKHY}6vH2F?WN=QcO&Ul#L;%{i9?qkKC9H`UZ2C4e%Aep9l{sR-s40-"
)


def _table(packed: str) -> dict[str, int]:
    raw = zlib.decompress(base64.b85decode(packed))
    characters = [chr(code) for first, last in _RUNS for code in range(first, last + 1)]
    return dict(zip(characters, struct.unpack(f"<{len(characters)}H", raw), strict=True))


REGULAR = _table(_REGULAR)
MEDIUM = _table(_MEDIUM)
