package dev.handrail.helper;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads one JSON text into Map, List, String, Double, Boolean and null. Nesting is limited. */
final class JsonReader {
    private static final int MAX_DEPTH = 32;

    private final String text;
    private int at;

    private JsonReader(String text) {
        this.text = text;
    }

    /** Throws IllegalArgumentException with the place of the first fault. */
    static Object read(String text) {
        JsonReader reader = new JsonReader(text);
        Object value = reader.value(0);
        reader.space();
        if (reader.at < text.length()) {
            throw reader.fault("nothing more");
        }
        return value;
    }

    private Object value(int depth) {
        if (depth > MAX_DEPTH) {
            throw fault("less nesting");
        }
        space();
        char c = peek();
        switch (c) {
            case '{':
                return map(depth);
            case '[':
                return list(depth);
            case '"':
                return string();
            case 't':
                return literal("true", Boolean.TRUE);
            case 'f':
                return literal("false", Boolean.FALSE);
            case 'n':
                return literal("null", null);
            default:
                return number();
        }
    }

    private Map<String, Object> map(int depth) {
        Map<String, Object> map = new LinkedHashMap<String, Object>();
        at++;
        space();
        if (peek() == '}') {
            at++;
            return map;
        }
        while (true) {
            space();
            if (peek() != '"') {
                throw fault("a name");
            }
            String name = string();
            space();
            expect(':');
            map.put(name, value(depth + 1));
            space();
            if (peek() == '}') {
                at++;
                return map;
            }
            expect(',');
        }
    }

    private List<Object> list(int depth) {
        List<Object> list = new ArrayList<Object>();
        at++;
        space();
        if (peek() == ']') {
            at++;
            return list;
        }
        while (true) {
            list.add(value(depth + 1));
            space();
            if (peek() == ']') {
                at++;
                return list;
            }
            expect(',');
        }
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        at++;
        while (true) {
            char c = peek();
            at++;
            if (c == '"') {
                return string.toString();
            }
            if (c < 0x20) {
                throw fault("a character that may stand in a string");
            }
            string.append(c == '\\' ? escaped() : c);
        }
    }

    private char escaped() {
        char c = peek();
        at++;
        switch (c) {
            case 'b':
                return '\b';
            case 'f':
                return '\f';
            case 'n':
                return '\n';
            case 'r':
                return '\r';
            case 't':
                return '\t';
            case 'u':
                int code = 0;
                for (int i = 0; i < 4; i++, at++) {
                    int digit = Character.digit(peek(), 16);
                    if (digit < 0) {
                        throw fault("four hexadecimal digits");
                    }
                    code = code << 4 | digit;
                }
                return (char) code;
            case '"':
            case '\\':
            case '/':
                return c;
            default:
                throw fault("an escape");
        }
    }

    private Double number() {
        int start = at;
        while (at < text.length() && "+-.eE0123456789".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
        try {
            return Double.valueOf(text.substring(start, at));
        } catch (NumberFormatException error) {
            at = start;
            throw fault("a value");
        }
    }

    private Object literal(String word, Object value) {
        if (!text.startsWith(word, at)) {
            throw fault("a value");
        }
        at += word.length();
        return value;
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        if (at >= text.length()) {
            throw fault("more");
        }
        return text.charAt(at);
    }

    private void expect(char c) {
        if (peek() != c) {
            throw fault("'" + c + "'");
        }
        at++;
    }

    private IllegalArgumentException fault(String wanted) {
        return new IllegalArgumentException("the JSON needs " + wanted + " at character " + at);
    }
}
