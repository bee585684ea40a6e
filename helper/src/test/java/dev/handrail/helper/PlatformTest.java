package dev.handrail.helper;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.Test;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Whether each release has what the helper calls, by the class files of its framework: Android 4.4 and 5, which
 * no Robolectric runs any more, among them. What is newer than 4.4 must stand in a class named after its level.
 */
public class PlatformTest {
    private static final int OLDEST = 19;
    private static final Map<String, Integer> LEVELS = new HashMap<>();
    /** Levels and the member that is asked for by its name alone, as `class.member`. */
    private static final Object[][] HIDDEN = {
        {19, 99, "android/app/UiAutomationConnection.<init>()V"},
        {19, 99, "android/app/UiAutomation.<init>(Landroid/os/Looper;Landroid/app/IUiAutomationConnection;)V"},
        {19, 23, "android/app/UiAutomation.connect()V"},
        {24, 99, "android/app/UiAutomation.connect(I)V"},
        {19, 99, "android/app/UiAutomation.disconnect()V"},
        {19, 99, "android/view/accessibility/AccessibilityInteractionClient.getInstance()"},
        {19, 32, "android/view/accessibility/AccessibilityInteractionClient.clearCache()V"},
        {19, 99, "android/hardware/display/DisplayManagerGlobal.getInstance()"},
        {19, 99, "android/hardware/display/DisplayManagerGlobal.getDisplayInfo(I)"},
        {19, 99, "android/view/DisplayInfo.logicalWidth"}, {19, 99, "android/view/DisplayInfo.logicalHeight"},
        {19, 99, "android/view/DisplayInfo.rotation"}, {19, 99, "android/view/DisplayInfo.logicalDensityDpi"},
        {19, 22, "android/view/DisplayInfo.refreshRate"}, {23, 30, "android/view/DisplayInfo.getMode()"},
        {31, 99, "android/view/DisplayInfo.getRefreshRate()F"},
        {19, 99, "android/os/ServiceManager.getService(Ljava/lang/String;)"},
        {19, 99, "android/content/IClipboard$Stub.asInterface(Landroid/os/IBinder;)"},
        {19, 99, "android/content/IClipboard.getPrimaryClip(Ljava/lang/String;"},
        {19, 99, "android/content/IClipboard.setPrimaryClip(Landroid/content/ClipData;Ljava/lang/String;"},
        {19, 25, "android/app/ActivityManagerNative.getDefault()"},
        {26, 28, "android/app/IActivityManager$Stub.asInterface(Landroid/os/IBinder;)"},
        {19, 28, "android/app/IActivityManager.getTasks(I"},
        {29, 99, "android/app/IActivityTaskManager$Stub.asInterface(Landroid/os/IBinder;)"},
        {29, 99, "android/app/IActivityTaskManager.getTasks(I"},
        {19, 99, "android/app/ActivityManager$RunningTaskInfo.topActivity"},
        {19, 99, "android/content/pm/IPackageManager$Stub.asInterface(Landroid/os/IBinder;)"},
        {19, 99, "android/content/pm/IPackageManager.getApplicationInfo(Ljava/lang/String;"},
        {19, 99, "android/content/pm/ApplicationInfo.sourceDir"},
        {19, 99, "android/content/pm/ApplicationInfo.nativeLibraryDir"},
        {21, 99, "android/content/pm/ApplicationInfo.splitSourceDirs"},
    };

    static {
        for (String release : ("4.4=19 5.0=21 6.0=23 7.0=24 7.1=25 8.0=26 8.1=27 9=28 10=29 11=30 12=31 12.1=32 13=33 14=34"
                + " 15=35 16=36").split(" ")) {
            LEVELS.put(release.split("=")[0], Integer.valueOf(release.split("=")[1]));
        }
    }

    /** The framework of each level that was fetched for this run. */
    private static TreeMap<Integer, File> frameworks() {
        TreeMap<Integer, File> frameworks = new TreeMap<>();
        for (File file : new File(System.getProperty("robolectric.dependency.dir")).listFiles()) {
            Matcher release = Pattern.compile("android-all(?:-instrumented)?-([0-9]+(?:\\.[0-9])?)[.0-9]*[-_].*jar")
                    .matcher(file.getName());
            if (release.matches()) {
                frameworks.put(LEVELS.get(release.group(1)), file);
            }
        }
        return frameworks;
    }

    @Test
    public void everyReleaseHasTheHiddenMembersThatAreCalledByName() throws Exception {
        TreeMap<Integer, File> frameworks = frameworks();
        assertTrue(frameworks.toString(), frameworks.containsKey(OLDEST) && frameworks.lastKey() >= 35);
        List<String> lacking = new ArrayList<>();
        for (Map.Entry<Integer, File> each : frameworks.entrySet()) {
            try (Framework framework = new Framework(each.getValue())) {
                for (Object[] hidden : HIDDEN) {
                    String name = (String) hidden[2];
                    int dot = name.indexOf('.');
                    boolean asked = each.getKey() >= (Integer) hidden[0] && each.getKey() <= (Integer) hidden[1];
                    if (asked && !framework.has(name.substring(0, dot), name.substring(dot + 1))) {
                        lacking.add(each.getKey() + " " + name);
                    }
                }
            }
        }
        assertEquals(new ArrayList<String>(), lacking);
    }

    @Test
    public void anOldRuntimeMeetsNothingThatItLacks() throws Exception {
        TreeMap<Integer, File> frameworks = frameworks();
        Map<Integer, Framework> open = new HashMap<>();
        Set<String> lacking = new TreeSet<>();
        int checked = 0;
        for (File file : new File("target/classes/dev/handrail/helper").listFiles()) {
            Matcher level = Pattern.compile(".*\\$Api([0-9]+)\\.class").matcher(file.getName());
            int needed = level.matches() ? Integer.parseInt(level.group(1)) : OLDEST;
            int carried = frameworks.ceilingKey(needed);
            if (!open.containsKey(carried)) {
                open.put(carried, new Framework(frameworks.get(carried)));
            }
            for (String[] member : references(file)) {
                checked++;
                if (!open.get(carried).has(member[0], member[1])) {
                    lacking.add(file.getName() + " " + needed + ": " + member[0] + "." + member[1]);
                }
            }
        }
        for (Framework framework : open.values()) {
            framework.close();
        }
        assertTrue("too few references: " + checked, checked > 300);
        assertEquals(new TreeSet<String>(), lacking);
    }

    /** Members of the platform that a class file uses. Old archives have no `java.lang`. */
    private static List<String[]> references(File file) throws IOException {
        final List<String[]> members = new ArrayList<>();
        try (InputStream in = new java.io.FileInputStream(file)) {
            new ClassReader(in).accept(new ClassVisitor(Opcodes.ASM9) {
                @Override
                public MethodVisitor visitMethod(int access, String name, String type, String sign, String[] thrown) {
                    return new MethodVisitor(Opcodes.ASM9) {
                        @Override
                        public void visitMethodInsn(int code, String owner, String name, String type, boolean is) {
                            add(owner, name + type);
                        }

                        @Override
                        public void visitFieldInsn(int code, String owner, String name, String type) {
                            add(owner, name);
                        }
                    };
                }

                private void add(String owner, String member) {
                    if (!owner.startsWith("dev/handrail") && !owner.startsWith("java/lang/") && !owner.startsWith("[")) {
                        members.add(new String[] {owner, member});
                    }
                }
            }, ClassReader.SKIP_DEBUG);
        }
        return members;
    }

    /** Members of the classes in one archive, with those that they inherit. */
    private static final class Framework implements AutoCloseable {
        private final JarFile jar;
        private final Map<String, Set<String>> members = new HashMap<>();

        Framework(File file) throws IOException {
            jar = new JarFile(file);
        }

        /** `member` is a field's name, or a method's name and as much of its type as matters. */
        boolean has(String type, String member) throws IOException {
            for (String each : members(type)) {
                if (member.contains("(") ? each.startsWith(member) : each.equals(member)) {
                    return true;
                }
            }
            return type.equals("java/lang/Object");
        }

        private Set<String> members(String type) throws IOException {
            if (members.containsKey(type)) {
                return members.get(type);
            }
            final Set<String> own = new HashSet<>();
            members.put(type, own);
            final List<String> parents = new ArrayList<>();
            String path = type + ".class";
            try (InputStream in = jar.getEntry(path) == null ? ClassLoader.getSystemResourceAsStream(path)
                    : jar.getInputStream(jar.getEntry(path))) {
                if (in == null || !path.startsWith("java/lang/") && jar.getEntry(path) == null) {
                    return own;
                }
                new ClassReader(in).accept(new ClassVisitor(Opcodes.ASM9) {
                    @Override
                    public void visit(int version, int access, String name, String sign, String above, String[] also) {
                        if (above != null) {
                            parents.add(above);
                        }
                        for (String each : also) {
                            parents.add(each);
                        }
                    }

                    @Override
                    public MethodVisitor visitMethod(int access, String name, String type, String sign, String[] thrown) {
                        own.add(name + type);
                        return null;
                    }

                    @Override
                    public FieldVisitor visitField(int access, String name, String type, String sign, Object start) {
                        own.add(name);
                        return null;
                    }
                }, ClassReader.SKIP_CODE);
            }
            for (String parent : parents) {
                own.addAll(members(parent));
            }
            return own;
        }

        @Override
        public void close() throws IOException {
            jar.close();
        }
    }
}
