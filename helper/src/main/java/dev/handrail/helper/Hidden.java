package dev.handrail.helper;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Calls of the platform's hidden methods, whose parameters differ from release to release. */
final class Hidden {
    /** The shell's own package, which services check against the caller's user id. */
    static final String SHELL = "com.android.shell";

    private Hidden() {
    }

    static Class<?> type(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException error) {
            throw new UnsupportedOperationException(name, error);
        }
    }

    /** The method of this name with these parameters. Throws UnsupportedOperationException without one. */
    static Object call(Class<?> of, Object on, String name, Class<?>[] types, Object... arguments) {
        try {
            Method method = of.getDeclaredMethod(name, types);
            method.setAccessible(true);
            return method.invoke(on, arguments);
        } catch (NoSuchMethodException error) {
            throw new UnsupportedOperationException(name, error);
        } catch (IllegalAccessException error) {
            throw new UnsupportedOperationException(name, error);
        } catch (InvocationTargetException error) {
            throw unwrapped(error);
        }
    }

    static Object call(Class<?> of, Object on, String name) {
        return call(of, on, name, new Class<?>[0]);
    }

    /**
     * A method of a service with parameters of any release, filled by their types: each of `arguments`
     * goes to the first parameter that takes it; further strings are null, numbers 0 and flags false.
     */
    static Object fill(Object service, String name, Object... arguments) {
        Method shortest = null;
        for (Method method : service.getClass().getMethods()) {
            if (method.getName().equals(name) && (shortest == null
                    || method.getParameterTypes().length < shortest.getParameterTypes().length)) {
                shortest = method;
            }
        }
        if (shortest == null) {
            throw new UnsupportedOperationException(name);
        }
        try {
            shortest.setAccessible(true);
            return shortest.invoke(service, filled(shortest.getParameterTypes(), arguments));
        } catch (IllegalAccessException error) {
            throw new UnsupportedOperationException(name, error);
        } catch (InvocationTargetException error) {
            throw unwrapped(error);
        }
    }

    static Object[] filled(Class<?>[] types, Object... arguments) {
        Object[] values = new Object[types.length];
        boolean[] used = new boolean[arguments.length];
        for (int i = 0; i < types.length; i++) {
            for (int j = 0; j < arguments.length && values[i] == null; j++) {
                if (!used[j] && takes(types[i], arguments[j])) {
                    values[i] = arguments[j];
                    used[j] = true;
                }
            }
            if (values[i] == null && types[i] == int.class) {
                values[i] = 0;
            } else if (values[i] == null && types[i] == long.class) {
                values[i] = 0L;
            } else if (values[i] == null && types[i] == boolean.class) {
                values[i] = false;
            }
        }
        return values;
    }

    private static boolean takes(Class<?> type, Object argument) {
        return type.isInstance(argument) || type == int.class && argument instanceof Integer;
    }

    /** The binder of a system service as its own interface, such as `android.content.IClipboard`. */
    static Object service(String name, String type) {
        Object binder = call(type("android.os.ServiceManager"), null, "getService", new Class<?>[] {String.class},
                name);
        if (binder == null) {
            throw new UnsupportedOperationException("no service " + name);
        }
        return call(type(type + "$Stub"), null, "asInterface", new Class<?>[] {type("android.os.IBinder")},
                binder);
    }

    static Object field(Object of, String name) {
        try {
            Field field = of.getClass().getField(name);
            return field.get(of);
        } catch (NoSuchFieldException error) {
            throw new UnsupportedOperationException(name, error);
        } catch (IllegalAccessException error) {
            throw new UnsupportedOperationException(name, error);
        }
    }

    private static RuntimeException unwrapped(InvocationTargetException error) {
        Throwable cause = error.getCause();
        return cause instanceof RuntimeException ? (RuntimeException) cause
                : new IllegalStateException(String.valueOf(cause), cause);
    }
}
