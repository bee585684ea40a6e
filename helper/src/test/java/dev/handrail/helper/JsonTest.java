package dev.handrail.helper;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import org.junit.Test;

public class JsonTest {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final JsonWriter json = new JsonWriter(bytes);

    private String written() throws Exception {
        json.flush();
        return bytes.toString("UTF-8");
    }

    @Test
    public void commasStandWhereTheyBelong() throws Exception {
        json.object().field("a", 1).array("b").value("x").array().endArray().object().endObject().value(true)
                .endArray().field("c", (String) null).object("d").field("e", 1.5f).endObject().endObject();
        assertEquals("{\"a\":1,\"b\":[\"x\",[],{},true],\"c\":null,\"d\":{\"e\":1.5}}", written());
    }

    @Test
    public void numbersThatJsonLacksAreNull() throws Exception {
        json.array().value(Float.NaN).value(Float.NEGATIVE_INFINITY).endArray();
        assertEquals("[null,null]", written());
    }

    @Test
    public void everyCharacterIsReadAsItWasWritten() throws Exception {
        StringBuilder all = new StringBuilder();
        for (int c = 0; c <= 0xffff; c++) {
            all.append((char) c).append('-'); // so that no two halves meet
        }
        all.append(new String(Character.toChars(0x10ffff)));
        json.value(all);
        assertEquals(all.toString(), JsonReader.read(written()));
    }

    @Test
    public void textLongerThanTheBufferIsWhole() throws Exception {
        String text = String.join("", Collections.nCopies(30_000, "\u20ac"));
        json.value(text);
        assertEquals(text, JsonReader.read(written()));
    }

    @Test
    public void whatIsReadKeepsItsShape() {
        Map<?, ?> map = (Map<?, ?>) JsonReader.read(" {\"a\" : [1, -2.5e1, true,false , null,\"\\u0041\\n\\/\"] } ");
        assertEquals(Arrays.asList(1.0, -25.0, true, false, null, "A\n/"), map.get("a"));
        assertEquals(Collections.emptyMap(), JsonReader.read("{}"));
    }

    @Test
    public void brokenJsonIsRefusedWithItsPlace() {
        String deep = String.join("", Collections.nCopies(100, "["));
        for (String bad : new String[] {"", "{", "{\"a\"}", "[1,]", "tru", "\"", "\"\\x\"", "\"\\u12g4\"", "1 2",
            "{a:1}", "nul", "-", "\"\n\"", deep}) {
            Exception error = assertThrows(bad, IllegalArgumentException.class, () -> JsonReader.read(bad));
            assertEquals(bad, true, error.getMessage().startsWith("the JSON needs"));
        }
    }
}
