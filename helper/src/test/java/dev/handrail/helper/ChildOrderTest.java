package dev.handrail.helper;

import static org.junit.Assert.assertEquals;

import android.app.Activity;
import android.os.Build;
import android.view.View;
import android.widget.FrameLayout;
import android.widget.TextView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** In which order the framework hands overlapping children to accessibility, and what it says of depth. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = Config.ALL_SDKS)
public class ChildOrderTest {
    private Activity activity;
    private FrameLayout parent;

    private TextView add(String name, int left, int top, int width, int height) {
        TextView view = new TextView(activity);
        view.setText(name);
        FrameLayout.LayoutParams place = new FrameLayout.LayoutParams(width, height);
        place.leftMargin = left;
        place.topMargin = top;
        parent.addView(view, place);
        return view;
    }

    /** `name:drawingOrder` of the parent's children, in the order of accessibility. */
    private List<String> order() throws Exception {
        ViewPhone phone = ViewPhone.showing(activity, parent);
        phone.windows.get(0).root = phone.node(parent);
        List<String> order = new ArrayList<>();
        for (Object child : (List<?>) phone.read().get("children")) {
            Map<?, ?> json = (Map<?, ?>) child;
            Object drawn = json.get("drawingOrder");
            order.add(json.get("text") + (drawn == null ? "" : ":" + ((Double) drawn).intValue()));
        }
        return order;
    }

    private void begin() {
        activity = ViewPhone.activity();
        parent = new FrameLayout(activity);
    }

    private static List<String> expect(String... namesWithOrder) {
        List<String> list = new ArrayList<>();
        for (String each : namesWithOrder) {
            list.add(Build.VERSION.SDK_INT >= Build.VERSION_CODES.N ? each : each.substring(0, each.indexOf(':')));
        }
        return list;
    }

    @Test
    public void whatIsDrawnLastComesFirstIfItBeginsHigher() throws Exception {
        begin();
        add("button", 0, 300, 200, 100);
        add("overlay", 0, 0, 1000, 1500);
        assertEquals(expect("overlay:2", "button:1"), order());
    }

    @Test
    public void whatIsDrawnLastComesFirstIfItBeginsFurtherLeftOnTheSameLevel() throws Exception {
        begin();
        add("right", 500, 0, 200, 100);
        add("left", 0, 0, 600, 100);
        assertEquals(expect("left:2", "right:1"), order());
    }

    @Test
    public void atTheSamePlaceTheLargerComesFirst() throws Exception {
        begin();
        add("small", 0, 0, 200, 100);
        add("large", 0, 0, 1000, 1500);
        assertEquals(expect("large:2", "small:1"), order());
    }

    @Test
    public void elevationChangesTheDrawingOrderAlone() throws Exception {
        begin();
        TextView raised = add("raised", 0, 0, 500, 500);
        add("flat", 100, 100, 500, 500);
        raised.setElevation(20);
        raised.setOutlineProvider(android.view.ViewOutlineProvider.BOUNDS);
        assertEquals(expect("raised:2", "flat:1"), order());
    }

    @Test
    public void translationInDepthChangesTheDrawingOrderAlone() throws Exception {
        begin();
        add("above", 0, 400, 500, 500).setTranslationZ(5);
        add("first", 0, 0, 500, 500);
        add("second", 0, 200, 500, 500);
        assertEquals(expect("first:1", "second:2", "above:3"), order());
    }

    @Test
    public void identicalPlacesComeInEitherOrderAndTheDrawingOrderTells() throws Exception {
        begin();
        View first = add("first", 0, 0, 500, 500);
        add("second", 0, 0, 500, 500);
        assertEquals(0, first.getLeft());
        List<String> order = order();
        List<String> either = order.get(0).startsWith("first") ? expect("first:1", "second:2")
                : expect("second:2", "first:1");
        assertEquals(either, order);
        System.out.println("API " + Build.VERSION.SDK_INT + ": identical places: " + order);
    }
}
