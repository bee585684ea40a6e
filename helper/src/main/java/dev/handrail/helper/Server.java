package dev.handrail.helper;

import java.io.Closeable;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;

/** Accepts connections, each on its own thread, and ends when nobody needs it any more. */
final class Server {
    static final int MOST_CONNECTIONS = 8;
    private static final int TICK_MS = 250;

    interface Listener extends Closeable {
        /** Blocks; throws when it is closed. */
        Http.Connection accept() throws IOException;
    }

    private final Listener listener;
    private final String token;
    private final Http.Handler handler;
    private final Set<Http.Connection> open = new HashSet<Http.Connection>();
    private final long startedMs = nowMs();
    private boolean hadConnection;
    private boolean stopping;
    private long lastMs = startedMs;

    Server(Listener listener, String token, Http.Handler handler) {
        this.listener = listener;
        this.token = token;
        this.handler = handler;
    }

    void start() {
        Thread accepting = new Thread("accept") {
            @Override
            public void run() {
                acceptAll();
            }
        };
        accepting.setDaemon(true);
        accepting.start();
    }

    /** Returns the reason for which the server ended, and closes everything. */
    String awaitEnd(int firstMs, int orphanMs, int idleMs) throws InterruptedException {
        String reason = null;
        synchronized (this) {
            while (reason == null) {
                long silent = nowMs() - lastMs;
                if (stopping) {
                    reason = "stopped";
                } else if (open.isEmpty() && silent >= (hadConnection ? orphanMs : firstMs)) {
                    reason = hadConnection ? "the caller hung up" : "nobody connected";
                } else if (!open.isEmpty() && silent >= idleMs) {
                    reason = "idle";
                } else {
                    wait(TICK_MS);
                }
            }
        }
        close();
        return reason;
    }

    synchronized void stop() {
        stopping = true;
        notifyAll();
    }

    private void acceptAll() {
        try {
            while (true) {
                final Http.Connection connection = listener.accept();
                synchronized (this) {
                    if (open.size() >= MOST_CONNECTIONS) {
                        connection.close();
                        continue;
                    }
                    open.add(connection);
                    touch();
                }
                Thread serving = new Thread("serve") {
                    @Override
                    public void run() {
                        serve(connection);
                    }
                };
                serving.setDaemon(true);
                serving.start();
            }
        } catch (IOException closed) {
            stop();
        }
    }

    private void serve(Http.Connection connection) {
        try {
            new Http(connection, token, new Http.Handler() {
                @Override
                public void handle(Http.Request request, Http.Answer answer) throws Exception {
                    synchronized (Server.this) {
                        hadConnection = true; // one without the token keeps nothing alive
                    }
                    touch();
                    handler.handle(request, answer);
                    touch();
                }
            }).serve();
        } catch (IOException hungUp) {
            // its peer left; others are served on
        } finally {
            synchronized (this) {
                open.remove(connection);
                touch();
                notifyAll();
            }
        }
    }

    private synchronized void touch() {
        lastMs = nowMs();
    }

    private void close() {
        Set<Http.Connection> connections;
        synchronized (this) {
            connections = new HashSet<Http.Connection>(open);
        }
        quietly(listener);
        for (Http.Connection connection : connections) {
            quietly(connection);
        }
    }

    private static void quietly(Closeable closeable) {
        try {
            closeable.close();
        } catch (IOException already) {
            // closed by its peer
        }
    }

    private static long nowMs() {
        return System.nanoTime() / 1000000;
    }
}
