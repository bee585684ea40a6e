package dev.handrail.helper;

import android.view.InputDevice;
import android.view.InputEvent;
import android.view.MotionEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Strokes with times as motion events, injected when their time has come. */
final class Gestures {
    /** A refusal comes at once; whoever was heard of so late may have got the event. */
    static final int IN_DOUBT_MS = 4000;

    /** One finger's way: places, and milliseconds since the gesture began at which it is there. */
    static final class Stroke {
        final float[] x;
        final float[] y;
        final long[] ms;

        Stroke(float[] x, float[] y, long[] ms) {
            this.x = x;
            this.y = y;
            this.ms = ms;
        }

        long start() {
            return ms[0];
        }

        long end() {
            return ms[ms.length - 1];
        }

        /** The place at a time, on the straight line between two points. */
        float at(float[] axis, long time) {
            for (int i = 1; i < ms.length; i++) {
                if (time < ms[i]) {
                    float part = (float) (time - ms[i - 1]) / (ms[i] - ms[i - 1]);
                    return axis[i - 1] + (axis[i] - axis[i - 1]) * Math.max(0, part);
                }
            }
            return axis[axis.length - 1];
        }
    }

    /** One event to inject: the fingers that are down, in the order of their ids. */
    static final class Step {
        final long ms;
        final int action;
        final int[] fingers;
        final float[] x;
        final float[] y;

        Step(long ms, int action, int[] fingers, List<Stroke> strokes) {
            this.ms = ms;
            this.action = action;
            this.fingers = fingers;
            x = new float[fingers.length];
            y = new float[fingers.length];
            for (int i = 0; i < fingers.length; i++) {
                Stroke stroke = strokes.get(fingers[i]);
                x[i] = stroke.at(stroke.x, ms);
                y[i] = stroke.at(stroke.y, ms);
            }
        }
    }

    private Gestures() {
    }

    /**
     * Down, moves at the display's rate, up, for each finger. A stroke of one point is down and up: a tap
     * is two events. Fingers that do not move cause no moves.
     */
    static List<Step> plan(List<Stroke> strokes, float framesPerSecond) {
        TreeSet<Long> times = new TreeSet<Long>();
        double frameMs = 1000.0 / (framesPerSecond > 1 ? framesPerSecond : 60);
        for (Stroke stroke : strokes) {
            for (long point : stroke.ms) {
                times.add(point);
            }
            for (int frame = 1; stroke.start() + frame * frameMs < stroke.end(); frame++) {
                times.add(stroke.start() + Math.round(frame * frameMs));
            }
        }
        List<Step> steps = new ArrayList<Step>();
        int[] down = new int[0];
        for (long time : times) {
            if (moves(strokes, down, time, steps)) {
                steps.add(new Step(time, MotionEvent.ACTION_MOVE, down, strokes));
            }
            for (int finger = 0; finger < strokes.size(); finger++) {
                if (strokes.get(finger).start() == time) {
                    down = with(down, finger);
                    steps.add(new Step(time, action(MotionEvent.ACTION_DOWN, down, finger), down, strokes));
                }
            }
            for (int finger = 0; finger < strokes.size(); finger++) {
                if (strokes.get(finger).end() == time) {
                    steps.add(new Step(time, action(MotionEvent.ACTION_UP, down, finger), down, strokes));
                    down = without(down, finger);
                }
            }
        }
        return steps;
    }

    private static boolean moves(List<Stroke> strokes, int[] down, long time, List<Step> steps) {
        if (down.length == 0) {
            return false;
        }
        Step last = steps.get(steps.size() - 1);
        Step next = new Step(time, MotionEvent.ACTION_MOVE, down, strokes);
        Step before = new Step(last.ms, MotionEvent.ACTION_MOVE, down, strokes);
        return !Arrays.equals(next.x, before.x) || !Arrays.equals(next.y, before.y);
    }

    private static int action(int plain, int[] down, int finger) {
        if (down.length == 1) {
            return plain;
        }
        int of = plain == MotionEvent.ACTION_DOWN
                ? MotionEvent.ACTION_POINTER_DOWN : MotionEvent.ACTION_POINTER_UP;
        return of | Arrays.binarySearch(down, finger) << MotionEvent.ACTION_POINTER_INDEX_SHIFT;
    }

    private static int[] with(int[] fingers, int finger) {
        int[] more = Arrays.copyOf(fingers, fingers.length + 1);
        more[fingers.length] = finger;
        Arrays.sort(more);
        return more;
    }

    private static int[] without(int[] fingers, int finger) {
        int[] fewer = new int[fingers.length - 1];
        int next = 0;
        for (int other : fingers) {
            if (other != finger) {
                fewer[next++] = other;
            }
        }
        return fewer;
    }

    /** Injects every step at its time; ends with a cancel if the platform refuses one. Returns how many. */
    static int play(Phone phone, List<Step> steps) throws Refusal, InterruptedException {
        long began = phone.uptimeMs();
        long downAt = began;
        int injected = 0;
        boolean ended = false;
        try {
            for (Step step : steps) {
                long early = began + step.ms - phone.uptimeMs();
                if (early > 0) {
                    phone.sleepMs(early);
                }
                if (step.action == MotionEvent.ACTION_DOWN) {
                    downAt = began + step.ms;
                }
                boolean wait = step.action != MotionEvent.ACTION_MOVE;
                send(phone, event(step, downAt, began + step.ms, step.action), wait, injected > 0);
                injected++;
            }
            ended = true;
        } catch (Refusal refusal) {
            injected = Math.max(injected, refusal.delivered ? 1 : 0);
            throw refusal;
        } finally {
            if (!ended && injected > 0) {
                Step last = steps.get(injected - 1);
                phone.inject(event(last, downAt, phone.uptimeMs(), MotionEvent.ACTION_CANCEL), false);
            }
        }
        return injected;
    }

    /** Throws where the platform takes no input, or where the app did not handle it in time. */
    static void send(Phone phone, InputEvent event, boolean wait, boolean hasBegun) throws Refusal {
        long askedMs = phone.uptimeMs();
        String words = "the platform refused an input event";
        try {
            if (phone.inject(event, wait)) {
                return;
            }
        } catch (SecurityException forbidden) {
            words = "the phone lets adb inject no input: " + forbidden.getMessage();
        }
        boolean mayHaveArrived = phone.uptimeMs() - askedMs >= IN_DOUBT_MS;
        throw new Refusal(Protocol.NOT_INJECTED, mayHaveArrived ? "the app did not handle it in time" : words, 200,
                hasBegun || mayHaveArrived);
    }

    private static InputEvent event(Step step, long downAt, long at, int action) {
        int count = step.fingers.length;
        MotionEvent.PointerProperties[] properties = new MotionEvent.PointerProperties[count];
        MotionEvent.PointerCoords[] places = new MotionEvent.PointerCoords[count];
        for (int i = 0; i < count; i++) {
            properties[i] = new MotionEvent.PointerProperties();
            properties[i].id = step.fingers[i];
            properties[i].toolType = MotionEvent.TOOL_TYPE_FINGER;
            places[i] = new MotionEvent.PointerCoords();
            places[i].x = step.x[i];
            places[i].y = step.y[i];
            places[i].pressure = 1;
            places[i].size = 1;
        }
        return MotionEvent.obtain(downAt, at, action, count, properties, places, 0, 0, 1, 1, 0, 0,
                InputDevice.SOURCE_TOUCHSCREEN, 0);
    }

    /** `[{"points": [[x, y, ms], …]}, …]`. Throws a refusal for anything else. */
    static List<Stroke> read(Object value) throws Refusal {
        if (!(value instanceof List) || ((List<?>) value).isEmpty()
                || ((List<?>) value).size() > Protocol.MAX_FINGERS) {
            throw bad("strokes is a list of 1 to " + Protocol.MAX_FINGERS + " strokes");
        }
        List<Stroke> strokes = new ArrayList<Stroke>();
        for (Object each : (List<?>) value) {
            Object points = each instanceof Map ? ((Map<?, ?>) each).get("points") : null;
            if (!(points instanceof List) || ((List<?>) points).isEmpty()) {
                throw bad("a stroke has a list of points");
            }
            strokes.add(stroke((List<?>) points));
        }
        return strokes;
    }

    private static Stroke stroke(List<?> points) throws Refusal {
        float[] x = new float[points.size()];
        float[] y = new float[points.size()];
        long[] ms = new long[points.size()];
        for (int i = 0; i < points.size(); i++) {
            List<?> point = points.get(i) instanceof List ? (List<?>) points.get(i) : new ArrayList<Object>();
            if (point.size() != 3) {
                throw bad("a point is [x, y, milliseconds]");
            }
            for (Object number : point) {
                if (!(number instanceof Double) || Math.abs((Double) number) > 1e6) {
                    throw bad("a point has three numbers");
                }
            }
            x[i] = ((Double) point.get(0)).floatValue();
            y[i] = ((Double) point.get(1)).floatValue();
            ms[i] = Math.round((Double) point.get(2));
            if (ms[i] < 0 || ms[i] > Protocol.MAX_GESTURE_MS || i > 0 && ms[i] <= ms[i - 1]) {
                throw bad("times grow and stay below " + Protocol.MAX_GESTURE_MS + " ms");
            }
        }
        return new Stroke(x, y, ms);
    }

    private static Refusal bad(String words) {
        return new Refusal(Protocol.BAD_REQUEST, words, 400, false);
    }

    /** The same point for so long; 0 for a tap. */
    static Stroke press(float x, float y, long ms) {
        return ms <= 0 ? new Stroke(new float[] {x}, new float[] {y}, new long[] {0})
                : new Stroke(new float[] {x, x}, new float[] {y, y}, new long[] {0, ms});
    }

    static Stroke line(float x1, float y1, float x2, float y2, long ms) {
        return new Stroke(new float[] {x1, x2}, new float[] {y1, y2}, new long[] {0, Math.max(1, ms)});
    }
}
