package dev.handrail.helper;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.app.Activity;
import android.content.Context;
import android.graphics.Rect;
import android.os.Build;
import android.text.InputType;
import android.view.View;
import android.view.ViewGroup;
import android.view.accessibility.AccessibilityNodeInfo;
import android.widget.AbsListView;
import android.widget.AdapterView;
import android.widget.ArrayAdapter;
import android.widget.EditText;
import android.widget.FrameLayout;
import android.widget.ListView;
import android.widget.ProgressBar;
import android.widget.TextView;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/**
 * Every widget, built by the framework of each level: what the helper writes is what the getters say.
 *
 * MediaController is left out: it makes a window of its own.
 */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = Config.ALL_SDKS)
public class WidgetsTest {
    private static final String[] WIDGETS = {
        "AbsoluteLayout", "ActionMenuView", "AdapterViewFlipper", "AnalogClock", "AutoCompleteTextView", "Button",
        "CalendarView", "CheckBox", "CheckedTextView", "Chronometer", "DatePicker", "DialerFilter",
        "DigitalClock", "EditText", "ExpandableListView", "FrameLayout", "Gallery", "GridLayout", "GridView",
        "HorizontalScrollView", "ImageButton", "ImageSwitcher", "ImageView", "LinearLayout", "ListView",
        "MultiAutoCompleteTextView", "NumberPicker", "ProgressBar", "QuickContactBadge",
        "RadioButton", "RadioGroup", "RatingBar", "RelativeLayout", "ScrollView", "SearchView", "SeekBar", "Space",
        "Spinner", "StackView", "Switch", "TabHost", "TabWidget", "TableLayout", "TableRow", "TextClock",
        "TextSwitcher", "TextView", "TimePicker", "ToggleButton", "Toolbar", "TwoLineListItem", "VideoView",
        "ViewAnimator", "ViewFlipper", "ViewSwitcher", "ZoomButton", "ZoomControls",
    };
    private static final Map<String, String> TEXTS = new LinkedHashMap<>();
    private static final Map<String, String> FLAGS = new LinkedHashMap<>();
    private static final Map<String, String> NUMBERS = new LinkedHashMap<>();

    static {
        TEXTS.put("className", "getClassName");
        TEXTS.put("resourceId", "getViewIdResourceName");
        TEXTS.put("text", "getText");
        TEXTS.put("contentDescription", "getContentDescription");
        TEXTS.put("hintText", "getHintText");
        TEXTS.put("stateDescription", "getStateDescription");
        TEXTS.put("paneTitle", "getPaneTitle");
        TEXTS.put("tooltipText", "getTooltipText");
        TEXTS.put("error", "getError");
        TEXTS.put("uniqueId", "getUniqueId");
        for (String name : new String[] {"Focused", "Focusable", "Selected", "Checked", "Checkable", "Clickable",
            "Scrollable", "LongClickable", "Password", "Editable", "AccessibilityFocused", "MultiLine",
            "ContentInvalid", "Dismissable", "ContextClickable", "Heading", "ScreenReaderFocusable"}) {
            FLAGS.put(name.substring(0, 1).toLowerCase() + name.substring(1), "is" + name);
        }
        FLAGS.put("opensPopup", "canOpenPopup");
        FLAGS.put("showingHint", "isShowingHintText");
        NUMBERS.put("inputType", "getInputType");
        NUMBERS.put("liveRegion", "getLiveRegion");
        NUMBERS.put("drawingOrder", "getDrawingOrder");
    }

    @Test
    public void everyWidgetIsWrittenAsItsGettersSay() throws Exception {
        List<String> broken = new ArrayList<>();
        int nodes = 0;
        for (String name : WIDGETS) {
            Activity activity = ViewPhone.activity();
            View widget;
            try {
                Class<?> type = Class.forName("android.widget." + name);
                widget = (View) type.getConstructor(Context.class).newInstance(activity);
                fill(activity, widget);
            } catch (ReflectiveOperationException error) {
                broken.add(name + ": " + error.getCause());
                continue;
            }
            FrameLayout parent = new FrameLayout(activity);
            parent.addView(widget, new FrameLayout.LayoutParams(600, 800));
            ViewPhone phone = ViewPhone.showing(activity, parent);
            nodes += compare(phone, phone.windows.get(0).root, phone.read());
        }
        assertEquals("widgets that this level can't build", "[]", broken.toString());
        assertTrue("nodes: " + nodes, nodes > WIDGETS.length * 3);
    }

    private static void fill(Activity activity, View widget) {
        widget.setId(android.R.id.text1);
        widget.setContentDescription("description of \"it\"\n\u00e4 \u4e2d \ud83d\ude00");
        if (widget instanceof TextView) {
            ((TextView) widget).setText("text \ud83d\ude00");
            ((TextView) widget).setHint("hint");
            ((TextView) widget).setError("error");
        }
        if (widget instanceof ProgressBar) {
            ((ProgressBar) widget).setMax(10);
            ((ProgressBar) widget).setProgress(4);
        }
        if (widget instanceof AbsListView && !(widget instanceof android.widget.ExpandableListView)) {
            ((AdapterView<?>) widget).setTag("list");
            ((AbsListView) widget).setAdapter(new ArrayAdapter<>(activity, android.R.layout.simple_list_item_1,
                    Arrays.asList("first", "second", "third")));
        }
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.P) {
            widget.setAccessibilityPaneTitle("pane");
            widget.setTooltipText("tooltip");
            widget.setAccessibilityHeading(true);
        }
        if (Build.VERSION.SDK_INT >= Build.VERSION_CODES.R) {
            widget.setStateDescription("state");
        }
    }

    /** Compares the node and all below it, and counts them. */
    private static int compare(ViewPhone phone, AccessibilityNodeInfo node, Map<?, ?> json) throws Exception {
        String what = String.valueOf(node.getClassName());
        for (Map.Entry<String, String> each : TEXTS.entrySet()) {
            Object value = getter(node, each.getValue());
            String text = value == null ? "" : value.toString();
            boolean showsHint = Build.VERSION.SDK_INT >= 26 && node.isShowingHintText();
            boolean masked = each.getKey().equals("text") && node.isPassword() && !text.isEmpty() && !showsHint;
            assertEquals(what + " " + each.getKey(), masked ? Protocol.MASK : text, or(json.get(each.getKey()), ""));
        }
        for (Map.Entry<String, String> each : FLAGS.entrySet()) {
            Object value = getter(node, each.getValue());
            assertEquals(what + " " + each.getKey(), value == null ? false : value,
                    or(json.get(each.getKey()), false));
        }
        assertEquals(what, node.isEnabled(), or(json.get("enabled"), true));
        assertEquals(what, node.isVisibleToUser(), or(json.get("visible"), true));
        for (Map.Entry<String, String> each : NUMBERS.entrySet()) {
            Object value = getter(node, each.getValue());
            assertEquals(what + " " + each.getKey(), value == null ? 0 : value,
                    ((Double) or(json.get(each.getKey()), 0.0)).intValue());
        }
        Rect bounds = new Rect();
        node.getBoundsInScreen(bounds);
        assertEquals(Arrays.asList((double) bounds.left, (double) bounds.top, (double) bounds.right,
                (double) bounds.bottom), json.get("bounds"));
        assertEquals(what, node.getRangeInfo() != null, json.get("range") != null);
        if (node.getRangeInfo() != null) {
            assertEquals((double) node.getRangeInfo().getCurrent(), ((Map<?, ?>) json.get("range")).get("current"));
        }
        assertEquals(what, node.getCollectionInfo() != null, json.get("collection") != null);
        assertEquals(what, node.getCollectionItemInfo() != null, json.get("item") != null);
        compareActions(node, json);
        List<?> below = (List<?>) or(json.get("children"), new ArrayList<>());
        int count = 1;
        int written = 0;
        for (int i = 0; i < node.getChildCount(); i++) {
            AccessibilityNodeInfo child = child(phone, node, i);
            if (child != null) {
                count += compare(phone, child, (Map<?, ?>) below.get(written++));
            }
        }
        assertEquals(what, written, below.size());
        return count;
    }

    /** Null where the framework itself throws, as DatePicker of Android 6 does for a day without a text. */
    private static AccessibilityNodeInfo child(ViewPhone phone, AccessibilityNodeInfo node, int index) {
        try {
            return phone.child(node, index);
        } catch (RuntimeException error) {
            return null;
        }
    }

    private static void compareActions(AccessibilityNodeInfo node, Map<?, ?> json) {
        int mask = ((Double) or(json.get("actions"), 0.0)).intValue();
        List<Integer> ids = new ArrayList<>();
        for (Object more : (List<?>) or(json.get("moreActions"), new ArrayList<>())) {
            ids.add(((Double) ((Map<?, ?>) more).get("id")).intValue());
        }
        for (AccessibilityNodeInfo.AccessibilityAction action : node.getActionList()) {
            assertTrue(action.toString(), (mask & action.getId()) != 0 || ids.contains(action.getId()));
        }
    }

    /** Null where this level has no such getter. */
    private static Object getter(AccessibilityNodeInfo node, String name) throws Exception {
        try {
            Method method = AccessibilityNodeInfo.class.getMethod(name);
            return method.invoke(node);
        } catch (NoSuchMethodException older) {
            return null;
        }
    }

    private static Object or(Object value, Object otherwise) {
        return value == null ? otherwise : value;
    }

    @Test
    public void theHintOfAnEmptyPasswordFieldIsNoPassword() throws Exception {
        AccessibilityNodeInfo node = AccessibilityNodeInfo.obtain();
        node.setPassword(true);
        node.setText("Password");
        if (Build.VERSION.SDK_INT >= 26) {
            node.setShowingHintText(true);
        }
        assertEquals(Build.VERSION.SDK_INT >= 26 ? "Password" : Protocol.MASK,
                new ViewPhone().with(node).read().get("text"));
    }

    @Test
    public void aPasswordLeavesMasked() throws Exception {
        Activity activity = ViewPhone.activity();
        EditText field = new EditText(activity);
        field.setInputType(InputType.TYPE_CLASS_TEXT | InputType.TYPE_TEXT_VARIATION_PASSWORD);
        field.setText("hunter2");
        FrameLayout parent = new FrameLayout(activity);
        parent.addView(field);
        ViewPhone phone = ViewPhone.showing(activity, parent);
        AccessibilityNodeInfo node = field.createAccessibilityNodeInfo();
        node.setText("hunter2"); // as a service sees it that may speak passwords
        phone.windows.get(0).root = node;
        String json = phone.write();
        assertTrue(json, json.contains(Protocol.MASK));
        assertTrue(json, json.contains("\"password\":true"));
        assertTrue(json, !json.contains("hunter2") && !json.contains("\"selection\""));
    }

    @Test
    public void whatComposeAndOlderAppsPutIntoExtrasIsRead() throws Exception {
        AccessibilityNodeInfo node = AccessibilityNodeInfo.obtain();
        node.getExtras().putCharSequence("AccessibilityNodeInfo.roleDescription", "carousel");
        node.getExtras().putCharSequence("androidx.compose.ui.semantics.testTag", "tag");
        String compat = "androidx.view.accessibility.AccessibilityNodeInfoCompat.";
        node.getExtras().putCharSequence(compat + "STATE_DESCRIPTION_KEY", "on");
        node.getExtras().putCharSequence(compat + "PANE_TITLE_KEY", "pane");
        Map<?, ?> json = new ViewPhone().with(node).read();
        assertEquals("carousel", json.get("roleDescription"));
        assertEquals("tag", json.get("testTag"));
        assertEquals(Build.VERSION.SDK_INT < Build.VERSION_CODES.R ? "on" : null, json.get("stateDescription"));
        assertEquals(Build.VERSION.SDK_INT < Build.VERSION_CODES.P ? "pane" : null, json.get("paneTitle"));
    }

    @Test
    public void aListTellsItsRowsAndItems() throws Exception {
        Activity activity = ViewPhone.activity();
        ListView list = new ListView(activity);
        fill(activity, list);
        ViewPhone phone = ViewPhone.showing(activity, list);
        phone.windows.get(0).root = phone.node(list);
        Map<?, ?> json = phone.read();
        assertEquals((double) phone.windows.get(0).root.getCollectionInfo().getRowCount(),
                ((Map<?, ?>) json.get("collection")).get("rows"));
        Map<?, ?> second = (Map<?, ?>) ((List<?>) json.get("children")).get(1);
        assertEquals("second", second.get("text"));
        assertEquals(ViewGroup.LayoutParams.MATCH_PARENT, list.getLayoutParams().width);
    }
}
