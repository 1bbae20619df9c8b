import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** How long a request may still be sending its body once the server is closing. */
const MAX_BODY_WAIT_MS = 500;

/**
 * Returns what closes a server: each request that has arrived is answered, and no connection holds the
 * end up that asks nothing, has not sent its request's head, or never ends its body. `server.close()`
 * alone waits for such a connection until its time is over, up to 95 s.
 */
export function gracefulClose(server: Server): () => Promise<void> {
  const unanswered = new Map<Socket, Set<ServerResponse>>();
  let closing = false;

  server.on('connection', (socket) => {
    unanswered.set(socket, new Set());
    socket.once('close', () => unanswered.delete(socket));
  });
  for (const event of ['request', 'checkExpectation'] as const) {
    server.on(event, ({ socket }: IncomingMessage, response: ServerResponse) => {
      // On a connection that is about to end, one request after the other would put that off for ever.
      if (closing) return;
      const responses = unanswered.get(socket) ?? new Set();
      responses.add(response);
      response.once('close', () => {
        responses.delete(response);
        if (closing && responses.size === 0) socket.destroySoon();
      });
    });
  }

  function destroyUnless(inProgress: (response: ServerResponse) => boolean): void {
    for (const [socket, responses] of unanswered) {
      if (![...responses].some(inProgress)) socket.destroy();
    }
  }

  return async () => {
    closing = true;
    const closed = new Promise((resolve) => server.close(resolve));
    destroyUnless(() => true);
    // Also ends a caller that never reads the answer.
    const timer = setInterval(() => {
      destroyUnless(({ req, writableEnded }) => req.complete && !writableEnded);
    }, MAX_BODY_WAIT_MS);
    await closed;
    clearInterval(timer);
  };
}
