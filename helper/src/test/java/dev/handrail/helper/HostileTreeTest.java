package dev.handrail.helper;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.view.View;
import android.view.accessibility.AccessibilityNodeInfo;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.RuntimeEnvironment;
import org.robolectric.annotation.Config;

/** Trees that no honest app has. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = Config.ALL_SDKS)
public class HostileTreeTest {
    private final View source = new View(RuntimeEnvironment.getApplication());
    private int made;

    /** A node of its own; two nodes are equal where their source is. */
    private AccessibilityNodeInfo node(int id, int children) {
        AccessibilityNodeInfo node = AccessibilityNodeInfo.obtain(source, id);
        for (int i = 0; i < children; i++) {
            node.addChild(source, 1_000_000 + made++);
        }
        return node;
    }

    private NodeWriter write(ViewPhone phone, ByteArrayOutputStream bytes) throws Exception {
        JsonWriter json = new JsonWriter(bytes);
        NodeWriter writer = new NodeWriter(json, phone);
        writer.write(phone.windows.get(0).root, false);
        json.flush();
        return writer;
    }

    @Test
    public void aCycleIsCutAndCounted() throws Exception {
        AccessibilityNodeInfo root = node(1, 2);
        AccessibilityNodeInfo below = node(2, 2);
        ViewPhone phone = new ViewPhone().with(root);
        phone.children.put(root, Arrays.asList(below, node(2, 0)));
        phone.children.put(below, Arrays.asList(node(1, 2), node(3, 0)));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        NodeWriter writer = write(phone, bytes);
        assertEquals(3, writer.nodes);
        assertEquals(2, writer.cycles);
        Map<?, ?> json = (Map<?, ?>) JsonReader.read(bytes.toString("UTF-8"));
        assertEquals(1, ((List<?>) json.get("children")).size());
    }

    @Test
    public void twentyThousandNodesBelowEachOtherNeedNoStack() throws Exception {
        AccessibilityNodeInfo root = node(0, 1);
        ViewPhone phone = new ViewPhone().with(root);
        AccessibilityNodeInfo parent = root;
        for (int i = 1; i < 20_000; i++) {
            AccessibilityNodeInfo child = node(i, i < 19_999 ? 1 : 0);
            phone.children.put(parent, Arrays.asList(child));
            parent = child;
        }
        assertEquals(20_000, write(phone, new ByteArrayOutputStream()).nodes);
    }

    @Test
    public void twentyThousandNodesBesideEachOtherAreAllWritten() throws Exception {
        AccessibilityNodeInfo root = node(0, 0);
        List<AccessibilityNodeInfo> many = new ArrayList<>();
        AccessibilityNodeInfo wide = node(1, 20_000);
        for (int i = 0; i < 20_000; i++) {
            many.add(node(i + 2, 0));
        }
        ViewPhone phone = new ViewPhone().with(wide);
        phone.children.put(wide, many);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        assertEquals(20_001, write(phone, bytes).nodes);
        assertEquals(20_000, ((List<?>) ((Map<?, ?>) JsonReader.read(bytes.toString("UTF-8"))).get("children")).size());
        assertEquals(0, root.getChildCount());
    }

    @Test
    public void aNodeOfWhichEverythingIsNullIsANode() throws Exception {
        Map<?, ?> json = new ViewPhone().with(AccessibilityNodeInfo.obtain()).read();
        assertEquals(Arrays.asList(0.0, 0.0, 0.0, 0.0), json.get("bounds"));
        assertEquals(null, json.get("text"));
    }

    @Test
    public void childrenThatAreNotHandedOutAreCounted() throws Exception {
        AccessibilityNodeInfo root = node(1, 3);
        ViewPhone phone = new ViewPhone().with(root);
        phone.children.put(root, Arrays.asList(null, node(2, 0), null));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        NodeWriter writer = write(phone, bytes);
        assertEquals(2, writer.missing);
        assertEquals(2, writer.nodes);
    }

    @Test
    public void aWindowThatGoesWhileItIsReadLosesItsChildrenOnly() throws Exception {
        AccessibilityNodeInfo root = node(1, 2);
        ViewPhone phone = new ViewPhone() {
            @Override
            public AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
                throw new IllegalStateException("Cannot perform this action on a not sealed instance.");
            }
        }.with(root);
        assertEquals(2, write(phone, new ByteArrayOutputStream()).missing);
    }

    @Test
    public void aRecycledNodeDoesNotEndTheLook() throws Exception {
        AccessibilityNodeInfo root = node(1, 2);
        AccessibilityNodeInfo recycled = node(2, 0);
        AccessibilityNodeInfo after = node(3, 0);
        recycled.recycle();
        ViewPhone phone = new ViewPhone().with(root);
        phone.children.put(root, Arrays.asList(recycled, after));
        assertEquals(3, write(phone, new ByteArrayOutputStream()).nodes);
    }

    @Test
    public void aGetterThatThrowsIsSaidAndItsSiblingsAreWritten() throws Exception {
        AccessibilityNodeInfo root = node(1, 2);
        AccessibilityNodeInfo bad = node(2, 0);
        Unreadable text = new Unreadable();
        bad.setContentDescription(text);
        text.armed = true;
        ViewPhone phone = new ViewPhone().with(root);
        phone.children.put(root, Arrays.asList(bad, node(3, 0)));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        NodeWriter writer = write(phone, bytes);
        List<?> children = (List<?>) ((Map<?, ?>) JsonReader.read(bytes.toString("UTF-8"))).get("children");
        assertEquals(2, children.size());
        assertEquals(1, writer.unreadable);
        assertTrue(((Map<?, ?>) children.get(0)).get("unreadable").toString().contains("mine"));
    }

    @Test
    public void halvesOfSurrogatePairsAndControlCharactersSurvive() throws Exception {
        AccessibilityNodeInfo root = node(1, 0);
        String text = "\ud83d a \ude00 \u0000\u001f\u007f\"\\ \ud83d\ude00 \ufffe";
        root.setText(text);
        assertEquals(text, new ViewPhone().with(root).read().get("text"));
    }

    /** A text of an app's own class that fails when it is read. */
    private static final class Unreadable implements CharSequence {
        boolean armed;

        @Override
        public int length() {
            if (armed) {
                throw new IllegalStateException("mine");
            }
            return 1;
        }

        @Override
        public char charAt(int index) {
            return 'x';
        }

        @Override
        public CharSequence subSequence(int start, int end) {
            return this;
        }
    }
}
