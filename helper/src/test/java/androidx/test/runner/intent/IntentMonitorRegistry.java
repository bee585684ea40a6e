package androidx.test.runner.intent;

/** Stands in for a class of Android's test library that Robolectric only calls; it is not on Maven Central. */
public final class IntentMonitorRegistry {
    private IntentMonitorRegistry() {
    }

    public static void registerInstance(IntentMonitor monitor) {
    }
}
