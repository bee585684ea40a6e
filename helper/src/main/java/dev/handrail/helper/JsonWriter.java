package dev.handrail.helper;

import java.io.IOException;
import java.io.OutputStream;

/**
 * Writes JSON as UTF-8 while it is being made, so that a screen of any size needs one small buffer.
 *
 * Half of a surrogate pair has no UTF-8; it leaves as its escape, which every JSON reader takes.
 */
final class JsonWriter {
    private static final char[] HEX = "0123456789abcdef".toCharArray();
    private static final int FLUSH_AT = 8000;

    private final OutputStream out;
    private final byte[] buffer = new byte[8192];
    private int used;
    /** Whether a comma goes before the next name or value of the innermost object or array. */
    private boolean comma;

    JsonWriter(OutputStream out) {
        this.out = out;
    }

    JsonWriter object() throws IOException {
        separate();
        put('{');
        comma = false;
        return this;
    }

    JsonWriter object(String name) throws IOException {
        return name(name).object();
    }

    JsonWriter endObject() throws IOException {
        put('}');
        comma = true;
        return this;
    }

    JsonWriter array() throws IOException {
        separate();
        put('[');
        comma = false;
        return this;
    }

    JsonWriter array(String name) throws IOException {
        return name(name).array();
    }

    JsonWriter endArray() throws IOException {
        put(']');
        comma = true;
        return this;
    }

    JsonWriter name(String name) throws IOException {
        separate();
        quote(name);
        put(':');
        comma = false;
        return this;
    }

    JsonWriter value(CharSequence text) throws IOException {
        separate();
        if (text == null) {
            literal("null");
        } else {
            quote(text);
        }
        comma = true;
        return this;
    }

    JsonWriter value(long number) throws IOException {
        separate();
        literal(Long.toString(number));
        comma = true;
        return this;
    }

    JsonWriter value(boolean flag) throws IOException {
        separate();
        literal(flag ? "true" : "false");
        comma = true;
        return this;
    }

    /** JSON has no NaN and no infinity; both leave as null. */
    JsonWriter value(float number) throws IOException {
        separate();
        literal(Float.isNaN(number) || Float.isInfinite(number) ? "null" : Float.toString(number));
        comma = true;
        return this;
    }

    JsonWriter field(String name, CharSequence text) throws IOException {
        return name(name).value(text);
    }

    JsonWriter field(String name, long number) throws IOException {
        return name(name).value(number);
    }

    JsonWriter field(String name, boolean flag) throws IOException {
        return name(name).value(flag);
    }

    JsonWriter field(String name, float number) throws IOException {
        return name(name).value(number);
    }

    /** Leaves out what is null or empty. */
    JsonWriter unlessEmpty(String name, CharSequence text) throws IOException {
        return text == null || text.length() == 0 ? this : field(name, text);
    }

    JsonWriter ifTrue(String name, boolean flag) throws IOException {
        return flag ? field(name, true) : this;
    }

    JsonWriter newline() throws IOException {
        put('\n');
        comma = false;
        return this;
    }

    void flush() throws IOException {
        out.write(buffer, 0, used);
        used = 0;
        out.flush();
    }

    private void separate() throws IOException {
        if (comma) {
            put(',');
        }
        comma = false;
    }

    private void quote(CharSequence text) throws IOException {
        put('"');
        int length = text.length();
        for (int i = 0; i < length; i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                put('\\');
                put(c);
            } else if (c >= 0x20 && c < 0x7f) {
                put(c);
            } else if (c < 0x20 || c == 0x7f) {
                escape(c);
            } else if (c < 0x800) {
                put(0xc0 | c >> 6);
                put(0x80 | c & 0x3f);
            } else if (!Character.isSurrogate(c)) {
                put(0xe0 | c >> 12);
                put(0x80 | c >> 6 & 0x3f);
                put(0x80 | c & 0x3f);
            } else if (Character.isHighSurrogate(c) && i + 1 < length
                    && Character.isLowSurrogate(text.charAt(i + 1))) {
                int point = Character.toCodePoint(c, text.charAt(++i));
                put(0xf0 | point >> 18);
                put(0x80 | point >> 12 & 0x3f);
                put(0x80 | point >> 6 & 0x3f);
                put(0x80 | point & 0x3f);
            } else {
                escape(c);
            }
        }
        put('"');
    }

    private void escape(char c) throws IOException {
        put('\\');
        put('u');
        for (int shift = 12; shift >= 0; shift -= 4) {
            put(HEX[c >> shift & 0xf]);
        }
    }

    private void literal(String ascii) throws IOException {
        for (int i = 0; i < ascii.length(); i++) {
            put(ascii.charAt(i));
        }
    }

    private void put(int octet) throws IOException {
        if (used >= FLUSH_AT) {
            out.write(buffer, 0, used);
            used = 0;
        }
        buffer[used++] = (byte) octet;
    }
}
