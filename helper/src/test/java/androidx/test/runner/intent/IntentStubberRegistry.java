package androidx.test.runner.intent;

/** Stands in for a class of Android's test library that Robolectric only calls; it is not on Maven Central. */
public final class IntentStubberRegistry {
    private IntentStubberRegistry() {
    }

    public static boolean isLoaded() {
        return false;
    }

    public static IntentStubber getInstance() {
        return null;
    }
}
