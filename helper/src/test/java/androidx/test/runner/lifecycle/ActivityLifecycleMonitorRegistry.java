package androidx.test.runner.lifecycle;

/** Stands in for a class of Android's test library that Robolectric only calls; it is not on Maven Central. */
public final class ActivityLifecycleMonitorRegistry {
    private ActivityLifecycleMonitorRegistry() {
    }

    public static void registerInstance(ActivityLifecycleMonitor monitor) {
    }
}
