package dev.handrail.helper;

import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Real sockets of this machine in place of the phone's; the peer's user id is whatever a test says. */
final class SocketSeam implements Server.Listener {
    static final String TOKEN = "0123456789abcdef0123456789abcdef";
    final ServerSocket socket;
    volatile int uid = 2000;

    SocketSeam() throws IOException {
        socket = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    }

    @Override
    public Http.Connection accept() throws IOException {
        final Socket peer = socket.accept();
        final int peerUid = uid;
        return new Http.Connection() {
            @Override
            public InputStream input() throws IOException {
                return peer.getInputStream();
            }

            @Override
            public OutputStream output() throws IOException {
                return peer.getOutputStream();
            }

            @Override
            public int peerUid() {
                return peerUid;
            }

            @Override
            public void close() throws IOException {
                peer.close();
            }
        };
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }

    Client client() throws IOException {
        return new Client(new Socket(socket.getInetAddress(), socket.getLocalPort()));
    }

    /** A client that writes what it is told, byte for byte, and reads chunked answers. */
    static final class Client implements Closeable {
        final Socket socket;
        final InputStream in;
        int status;
        String head = "";

        Client(Socket socket) throws IOException {
            this.socket = socket;
            this.in = socket.getInputStream();
            socket.setTcpNoDelay(true);
        }

        void send(String text) throws IOException {
            socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        }

        static String request(String method, String target, String body) {
            int length = body.getBytes(StandardCharsets.UTF_8).length;
            return method + " " + target + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + TOKEN
                    + (body.isEmpty() ? "" : "\r\nContent-Length: " + length) + "\r\n\r\n" + body;
        }

        Map<?, ?> get(String target) throws IOException {
            send(request("GET", target, ""));
            return (Map<?, ?>) JsonReader.read(answer());
        }

        Map<?, ?> post(String target, String body) throws IOException {
            send(request("POST", target, body));
            return (Map<?, ?>) JsonReader.read(answer());
        }

        /** Null if the server hung up instead. */
        String answer() throws IOException {
            byte[] body = body();
            return body == null ? null : new String(body, StandardCharsets.UTF_8);
        }

        byte[] body() throws IOException {
            String line = line();
            if (line == null) {
                return null;
            }
            status = Integer.parseInt(line.split(" ")[1]);
            head = line;
            for (String header = line(); !header.isEmpty(); header = line()) {
                head += "\n" + header;
            }
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            byte[] chunk;
            do {
                chunk = chunk();
                body.write(chunk);
            } while (chunk.length > 0);
            return body.toByteArray();
        }

        byte[] chunk() throws IOException {
            byte[] chunk = in.readNBytes(Integer.parseInt(line(), 16));
            line();
            return chunk;
        }

        String line() throws IOException {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            for (int octet = in.read(); octet != '\n'; octet = in.read()) {
                if (octet < 0) {
                    return null;
                }
                line.write(octet);
            }
            return line.toString("UTF-8").trim();
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
