package dev.handrail.helper;

import android.graphics.Rect;
import android.os.Build;
import android.os.Bundle;
import android.view.accessibility.AccessibilityNodeInfo;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Writes a tree of accessibility nodes as JSON, without recursion, each node once.
 *
 * What is newer than API 19 stands in a nested class named after its level: an old runtime then never has to
 * verify a method that it lacks. A node that can't be read is written as `{"unreadable": reason}`.
 */
final class NodeWriter {
    static final String ROLE_DESCRIPTION = "AccessibilityNodeInfo.roleDescription";
    static final String TEST_TAG = "androidx.compose.ui.semantics.testTag";
    /** Where androidx puts what the platform had no field for yet. */
    static final String COMPAT = "androidx.view.accessibility.AccessibilityNodeInfoCompat.";
    private static final int COMPAT_HEADING = 2;

    private final JsonWriter json;
    private final Phone phone;
    private final int sdk;
    private final Set<AccessibilityNodeInfo> written = new HashSet<AccessibilityNodeInfo>();
    private final Rect rect = new Rect();
    /** Nodes that were left out because they stand elsewhere already: a tree with a cycle. */
    int cycles;
    int nodes;
    /** Children that the platform counted and then did not hand out. */
    int missing;
    int unreadable;

    NodeWriter(JsonWriter json, Phone phone) {
        this.json = json;
        this.phone = phone;
        this.sdk = phone.sdk();
    }

    /** A node whose children are being written. */
    private static final class Open {
        final AccessibilityNodeInfo node;
        final int count;
        final String packageName;
        int next;
        boolean hasArray;

        Open(AccessibilityNodeInfo node, int count, String packageName) {
            this.node = node;
            this.count = count;
            this.packageName = packageName;
        }
    }

    /** The whole tree as one JSON object. A package stands where it differs from the parent's. */
    void write(AccessibilityNodeInfo root, boolean seedForm) throws IOException {
        List<Open> path = new ArrayList<Open>();
        written.add(root);
        path.add(open(root, 0, "", seedForm));
        while (!path.isEmpty()) {
            Open open = path.get(path.size() - 1);
            if (open.next >= open.count) {
                if (open.hasArray) {
                    json.endArray();
                }
                json.endObject();
                path.remove(path.size() - 1);
                continue;
            }
            int index = open.next++;
            AccessibilityNodeInfo child = child(open.node, index);
            if (child == null) {
                missing++;
                continue;
            }
            if (!written.add(child)) {
                cycles++;
                continue;
            }
            if (!open.hasArray) {
                json.array("children");
                open.hasArray = true;
            }
            path.add(open(child, index, open.packageName, seedForm));
        }
    }

    private AccessibilityNodeInfo child(AccessibilityNodeInfo node, int index) {
        try {
            return phone.child(node, index);
        } catch (RuntimeException gone) {
            return null; // the window went while it was read
        }
    }

    private Open open(AccessibilityNodeInfo node, int index, String parentPackage, boolean seedForm)
            throws IOException {
        nodes++;
        json.object();
        try {
            String packageName = string(node.getPackageName());
            int count = node.getChildCount();
            if (seedForm) {
                writeSeedForm(node, index);
            } else {
                if (!packageName.equals(parentPackage)) {
                    json.field("packageName", packageName);
                }
                writeFields(node);
            }
            return new Open(node, count, packageName);
        } catch (RuntimeException error) { // a recycled node throws IllegalStateException or worse
            unreadable++;
            json.field("unreadable", String.valueOf(error));
            return new Open(node, 0, parentPackage);
        }
    }

    /** The shape that seed 003's client reads: every key, and bounds by name. */
    private void writeSeedForm(AccessibilityNodeInfo node, int index) throws IOException {
        Bundle extras = node.getExtras();
        node.getBoundsInScreen(rect);
        json.field("index", index)
                .field("className", string(node.getClassName()))
                .field("packageName", string(node.getPackageName()))
                .field("resourceId", string(node.getViewIdResourceName()))
                .field("text", text(node))
                .field("contentDescription", string(node.getContentDescription()))
                .field("hintText", string(hint(node, extras)))
                .field("stateDescription", string(state(node, extras)))
                .field("paneTitle", string(pane(node, extras)))
                .field("tooltipText", string(tooltip(node, extras)));
        json.object("bounds").field("left", rect.left).field("top", rect.top).field("right", rect.right)
                .field("bottom", rect.bottom).endObject();
        json.field("enabled", node.isEnabled()).field("focused", node.isFocused())
                .field("focusable", node.isFocusable()).field("selected", node.isSelected())
                .field("checked", node.isChecked()).field("checkable", node.isCheckable())
                .field("clickable", node.isClickable()).field("scrollable", node.isScrollable())
                .field("longClickable", node.isLongClickable()).field("password", node.isPassword());
    }

    /** Everything that accessibility tells; false, empty and unknown are left out, `enabled` if it is true. */
    private void writeFields(AccessibilityNodeInfo node) throws IOException {
        Bundle extras = node.getExtras();
        json.unlessEmpty("className", node.getClassName())
                .unlessEmpty("resourceId", node.getViewIdResourceName())
                .unlessEmpty("text", text(node))
                .unlessEmpty("contentDescription", node.getContentDescription())
                .unlessEmpty("hintText", hint(node, extras))
                .unlessEmpty("stateDescription", state(node, extras))
                .unlessEmpty("paneTitle", pane(node, extras))
                .unlessEmpty("tooltipText", tooltip(node, extras));
        node.getBoundsInScreen(rect);
        json.array("bounds").value(rect.left).value(rect.top).value(rect.right).value(rect.bottom).endArray();
        if (!node.isEnabled()) {
            json.field("enabled", false);
        }
        if (!node.isVisibleToUser()) {
            json.field("visible", false);
        }
        json.ifTrue("focused", node.isFocused()).ifTrue("focusable", node.isFocusable())
                .ifTrue("selected", node.isSelected()).ifTrue("checked", node.isChecked())
                .ifTrue("checkable", node.isCheckable()).ifTrue("clickable", node.isClickable())
                .ifTrue("scrollable", node.isScrollable()).ifTrue("longClickable", node.isLongClickable())
                .ifTrue("password", node.isPassword()).ifTrue("editable", node.isEditable())
                .ifTrue("accessibilityFocused", node.isAccessibilityFocused())
                .ifTrue("multiLine", node.isMultiLine()).ifTrue("contentInvalid", node.isContentInvalid())
                .ifTrue("dismissable", node.isDismissable()).ifTrue("opensPopup", node.canOpenPopup());
        unlessZero("liveRegion", node.getLiveRegion());
        unlessZero("inputType", node.getInputType());
        if (node.isEditable() && node.getTextSelectionStart() >= 0 && !node.isPassword()) {
            json.array("selection").value(node.getTextSelectionStart()).value(node.getTextSelectionEnd())
                    .endArray();
        }
        writeRange(node.getRangeInfo());
        writeCollection(node.getCollectionInfo());
        writeItem(node.getCollectionItemInfo());
        writeNewerFields(node, extras);
        if (extras != null) {
            json.unlessEmpty("roleDescription", extras.getCharSequence(ROLE_DESCRIPTION))
                    .unlessEmpty("testTag", extras.getCharSequence(TEST_TAG));
        }
    }

    private void writeNewerFields(AccessibilityNodeInfo node, Bundle extras) throws IOException {
        if (sdk >= Build.VERSION_CODES.LOLLIPOP) {
            Api21.write(json, node);
        } else {
            unlessZero("actions", node.getActions());
        }
        if (sdk >= Build.VERSION_CODES.M) {
            Api23.write(json, node);
        }
        if (sdk >= Build.VERSION_CODES.N) {
            Api24.write(json, node);
        }
        if (sdk >= Build.VERSION_CODES.O) {
            Api26.write(json, node);
        }
        if (sdk >= Build.VERSION_CODES.P) {
            Api28.write(json, node);
        } else if (extras != null) {
            json.ifTrue("heading", (extras.getInt(COMPAT + "BOOLEAN_PROPERTY_KEY") & COMPAT_HEADING) != 0);
        }
        if (sdk >= Build.VERSION_CODES.TIRAMISU) {
            Api33.write(json, node);
        }
    }

    private void writeRange(AccessibilityNodeInfo.RangeInfo range) throws IOException {
        if (range != null) {
            json.object("range").field("type", range.getType()).field("min", range.getMin())
                    .field("max", range.getMax()).field("current", range.getCurrent()).endObject();
        }
    }

    private void writeCollection(AccessibilityNodeInfo.CollectionInfo info) throws IOException {
        if (info != null) {
            json.object("collection").field("rows", info.getRowCount()).field("columns", info.getColumnCount())
                    .ifTrue("hierarchical", info.isHierarchical()).endObject();
        }
    }

    private void writeItem(AccessibilityNodeInfo.CollectionItemInfo info) throws IOException {
        if (info != null) {
            json.object("item").field("row", info.getRowIndex()).field("column", info.getColumnIndex())
                    .field("rowSpan", info.getRowSpan()).field("columnSpan", info.getColumnSpan())
                    .ifTrue("heading", info.isHeading()).endObject();
        }
    }

    private CharSequence hint(AccessibilityNodeInfo node, Bundle extras) {
        return sdk >= Build.VERSION_CODES.O ? Api26.hint(node) : compat(extras, "HINT_TEXT_KEY");
    }

    private CharSequence state(AccessibilityNodeInfo node, Bundle extras) {
        return sdk >= Build.VERSION_CODES.R ? Api30.state(node) : compat(extras, "STATE_DESCRIPTION_KEY");
    }

    private CharSequence pane(AccessibilityNodeInfo node, Bundle extras) {
        return sdk >= Build.VERSION_CODES.P ? Api28.pane(node) : compat(extras, "PANE_TITLE_KEY");
    }

    private CharSequence tooltip(AccessibilityNodeInfo node, Bundle extras) {
        return sdk >= Build.VERSION_CODES.P ? Api28.tooltip(node) : compat(extras, "TOOLTIP_TEXT_KEY");
    }

    private static CharSequence compat(Bundle extras, String key) {
        return extras == null ? null : extras.getCharSequence(COMPAT + key);
    }

    /** A password leaves as a mask, whatever the platform shows of it; the hint of an empty field does not. */
    private CharSequence text(AccessibilityNodeInfo node) {
        CharSequence text = node.getText();
        if (text == null || text.length() == 0) {
            return "";
        }
        boolean isHint = sdk >= Build.VERSION_CODES.O && node.isPassword() && Api26.showsHint(node);
        return node.isPassword() && !isHint ? Protocol.MASK : text;
    }

    private void unlessZero(String name, int number) throws IOException {
        if (number != 0) {
            json.field(name, number);
        }
    }

    private static String string(CharSequence text) {
        return text == null ? "" : text.toString();
    }

    private static final class Api21 {
        /** Ids of the first 21 actions are bits of one mask; the others and labels stand in a list. */
        static void write(JsonWriter json, AccessibilityNodeInfo node) throws IOException {
            json.unlessEmpty("error", node.getError());
            if (node.getMaxTextLength() > 0) {
                json.field("maxTextLength", node.getMaxTextLength());
            }
            int mask = 0;
            boolean others = false;
            List<AccessibilityNodeInfo.AccessibilityAction> actions = node.getActionList();
            for (AccessibilityNodeInfo.AccessibilityAction action : actions) {
                mask |= isBit(action.getId()) ? action.getId() : 0;
                others |= !isBit(action.getId()) || action.getLabel() != null;
            }
            if (mask != 0) {
                json.field("actions", mask);
            }
            if (others) {
                json.array("moreActions");
                for (AccessibilityNodeInfo.AccessibilityAction action : actions) {
                    if (!isBit(action.getId()) || action.getLabel() != null) {
                        json.object().field("id", action.getId()).unlessEmpty("label", action.getLabel())
                                .endObject();
                    }
                }
                json.endArray();
            }
        }

        private static boolean isBit(int id) {
            return id > 0 && id <= AccessibilityNodeInfo.ACTION_SET_TEXT && Integer.bitCount(id) == 1;
        }
    }

    private static final class Api23 {
        static void write(JsonWriter json, AccessibilityNodeInfo node) throws IOException {
            json.ifTrue("contextClickable", node.isContextClickable());
        }
    }

    private static final class Api24 {
        static void write(JsonWriter json, AccessibilityNodeInfo node) throws IOException {
            json.field("drawingOrder", node.getDrawingOrder());
            if (!node.isImportantForAccessibility()) {
                json.field("important", false);
            }
        }
    }

    private static final class Api26 {
        static CharSequence hint(AccessibilityNodeInfo node) {
            return node.getHintText();
        }

        static boolean showsHint(AccessibilityNodeInfo node) {
            return node.isShowingHintText();
        }

        static void write(JsonWriter json, AccessibilityNodeInfo node) throws IOException {
            json.ifTrue("showingHint", node.isShowingHintText());
        }
    }

    private static final class Api28 {
        static CharSequence pane(AccessibilityNodeInfo node) {
            return node.getPaneTitle();
        }

        static CharSequence tooltip(AccessibilityNodeInfo node) {
            return node.getTooltipText();
        }

        static void write(JsonWriter json, AccessibilityNodeInfo node) throws IOException {
            json.ifTrue("heading", node.isHeading())
                    .ifTrue("screenReaderFocusable", node.isScreenReaderFocusable());
        }
    }

    private static final class Api30 {
        static CharSequence state(AccessibilityNodeInfo node) {
            return node.getStateDescription();
        }
    }

    private static final class Api33 {
        static void write(JsonWriter json, AccessibilityNodeInfo node) throws IOException {
            json.unlessEmpty("uniqueId", node.getUniqueId());
        }
    }
}
