package dev.handrail.helper;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.view.InputDevice;
import android.view.InputEvent;
import android.view.MotionEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.Test;
import org.junit.runner.RunWith;
import org.robolectric.RobolectricTestRunner;
import org.robolectric.annotation.Config;

/** Motion events, their times and fingers, through a phone in virtual time. */
@RunWith(RobolectricTestRunner.class)
@Config(sdk = Config.ALL_SDKS)
public class GesturesTest {
    private final ViewPhone phone = new ViewPhone();

    private List<String> play(String strokes) throws Exception {
        List<Gestures.Step> steps = Gestures.plan(Gestures.read(JsonReader.read(strokes)), phone.rate);
        assertEquals(steps.size(), Gestures.play(phone, steps));
        return told();
    }

    /** `action@ms x,y x,y` of each injected event. */
    private List<String> told() {
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < phone.injected.size(); i++) {
            MotionEvent event = (MotionEvent) phone.injected.get(i);
            StringBuilder line = new StringBuilder(MotionEvent.actionToString(event.getAction()).substring(7));
            line.append('@').append(phone.injectedAt.get(i) - 1000);
            for (int finger = 0; finger < event.getPointerCount(); finger++) {
                line.append(" ").append(event.getPointerId(finger)).append(":").append((int) event.getX(finger))
                        .append(",").append((int) event.getY(finger));
            }
            lines.add(line.toString());
        }
        return lines;
    }

    @Test
    public void aTapIsTwoEvents() throws Exception {
        assertEquals(Arrays.asList("DOWN@0 0:10,20", "UP@0 0:10,20"), play("[{\"points\":[[10,20,0]]}]"));
        MotionEvent down = (MotionEvent) phone.injected.get(0);
        assertEquals(InputDevice.SOURCE_TOUCHSCREEN, down.getSource());
        assertEquals(MotionEvent.TOOL_TYPE_FINGER, down.getToolType(0));
        assertEquals(1000, down.getDownTime());
    }

    @Test
    public void aLongPressHoldsWithoutMoving() throws Exception {
        assertEquals(Arrays.asList("DOWN@0 0:1,2", "UP@800 0:1,2"), play("[{\"points\":[[1,2,0],[1,2,800]]}]"));
    }

    @Test
    public void aSwipeMovesAtTheDisplaysRate() throws Exception {
        List<String> events = play("[{\"points\":[[0,0,0],[300,0,100]]}]");
        assertEquals(Arrays.asList("DOWN@0 0:0,0", "MOVE@17 0:51,0", "MOVE@33 0:99,0", "MOVE@50 0:150,0",
                "MOVE@67 0:201,0", "MOVE@83 0:249,0", "MOVE@100 0:300,0", "UP@100 0:300,0"), events);
        assertEquals(Arrays.asList(true, false, false, false, false, false, false, true), phone.waited);
    }

    @Test
    public void aFasterDisplayGetsMoreMoves() throws Exception {
        phone.rate = 120;
        assertEquals(12 + 2, play("[{\"points\":[[0,0,0],[300,0,100]]}]").size());
    }

    @Test
    public void aDragHoldsBeforeItMoves() throws Exception {
        List<String> events = play("[{\"points\":[[0,0,0],[0,0,500],[30,0,530]]}]");
        assertEquals("DOWN@0 0:0,0", events.get(0));
        assertTrue(events.get(1), events.get(1).startsWith("MOVE@51"));
        assertEquals("UP@530 0:30,0", events.get(events.size() - 1));
    }

    @Test
    public void twoFingersComeAndGoOneAfterTheOther() throws Exception {
        phone.rate = 20;
        assertEquals(Arrays.asList("DOWN@0 0:0,0", "POINTER_DOWN(1)@0 0:0,0 1:100,0", "MOVE@50 0:20,0 1:80,0",
                "MOVE@100 0:40,0 1:60,0", "POINTER_UP(0)@100 0:40,0 1:60,0", "UP@100 1:60,0"),
                play("[{\"points\":[[0,0,0],[40,0,100]]},{\"points\":[[100,0,0],[60,0,100]]}]"));
    }

    @Test
    public void aDoubleTapIsTwoStrokesEachWithItsOwnDownTime() throws Exception {
        play("[{\"points\":[[5,5,0]]},{\"points\":[[5,5,60]]}]");
        List<Long> downs = new ArrayList<>();
        for (InputEvent event : phone.injected) {
            downs.add(((MotionEvent) event).getDownTime());
        }
        assertEquals(Arrays.asList(1000L, 1000L, 1060L, 1060L), downs);
    }

    @Test
    public void aRefusedEventEndsTheGestureWithACancel() throws Exception {
        phone.refusesFrom = 3;
        Refusal refusal = assertThrows(Refusal.class, () -> play("[{\"points\":[[0,0,0],[300,0,100]]}]"));
        assertEquals(Protocol.NOT_INJECTED, refusal.code);
        assertTrue(refusal.delivered);
        assertTrue(told().toString(), told().get(3).startsWith("CANCEL"));
    }

    @Test
    public void aFirstEventThatIsRefusedDeliveredNothing() throws Exception {
        phone.refusesFrom = 0;
        assertEquals(false, assertThrows(Refusal.class, () -> play("[{\"points\":[[0,0,0]]}]")).delivered);
        assertEquals(Collections.emptyList(), phone.injected);
    }

    @Test
    public void anAppThatDidNotHandleATouchInTimeMayHaveGotIt() throws Exception {
        phone.refusesFrom = 0;
        phone.refusesAfterMs = 5_000;
        Refusal refusal = assertThrows(Refusal.class, () -> play("[{\"points\":[[7,8,0]]}]"));
        assertTrue(refusal.delivered);
        assertTrue(told().toString(), told().get(0).startsWith("CANCEL") && told().get(0).endsWith("7,8"));
    }

    @Test
    public void aPhoneThatLetsAdbInjectNothingIsQuoted() throws Exception {
        phone.refusesFrom = 0;
        phone.forbids = "needs INJECT_EVENTS";
        Refusal refusal = assertThrows(Refusal.class, () -> play("[{\"points\":[[7,8,0]]}]"));
        assertEquals(Protocol.NOT_INJECTED, refusal.code);
        assertTrue(refusal.getMessage(), refusal.getMessage().contains("needs INJECT_EVENTS"));
        assertEquals(false, refusal.delivered);
    }

    @Test
    public void strokesThatAreNoneAreRefusedBeforeAnythingHappens() {
        String eleven = String.join(",", Collections.nCopies(11, "{\"points\":[[0,0,0]]}"));
        for (String bad : new String[] {"null", "[]", "[" + eleven + "]", "[1]", "[{\"points\":[]}]",
            "[{\"points\":[[1,2]]}]", "[{\"points\":[[1,\"2\",0]]}]", "[{\"points\":[[0,0,5],[0,0,5]]}]",
            "[{\"points\":[[0,0,-1]]}]", "[{\"points\":[[0,0,0],[0,0,999999]]}]", "[{\"points\":[[1e9,0,0]]}]"}) {
            Refusal refusal = assertThrows(bad, Refusal.class, () -> Gestures.read(JsonReader.read(bad)));
            assertEquals(400, refusal.status);
        }
    }
}
