import type { Sink } from 'graphql-ws';
import { expect, test, vi } from 'vitest';

import { follow, waitBefore, type LiveStatus } from './follow';
import type { Problem } from './problems';
import type { Socket } from './socket';

/** A socket whose other end the test holds. */
function fake() {
  const asked: { after: unknown; sink: Sink }[] = [];
  const connected = new Set<() => void>();
  const client = {
    on: (_: string, listener: () => void) => {
      connected.add(listener);
      return () => connected.delete(listener);
    },
    subscribe: ({ variables }: { variables: { after: unknown } }, sink: Sink) => {
      asked.push({ after: variables.after, sink });
      return () => {};
    },
  };
  const connect = () => connected.forEach((listener) => listener());
  return { asked, connect, socket: { client, isConnected: () => false } as unknown as Socket };
}

function started() {
  vi.useFakeTimers();
  const { asked, connect, socket } = fake();
  const statuses: LiveStatus[] = [];
  const problems: Problem[] = [];
  const end = follow<{ cursor: string }, { after: string | null }>(socket, {
    document: '' as never,
    variables: (after) => ({ after }),
    cursorOf: ({ cursor }) => cursor,
    after: 'c1',
    onEvent: () => {},
    onStatus: (status) => statuses.push(status),
    onProblem: (problem) => problems.push(problem),
  });
  return { asked, connect, statuses, problems, end };
}

test('a lost connection goes on after the last event', () => {
  const { asked, connect, statuses, end } = started();
  connect();
  asked[0]?.sink.next({ data: { cursor: 'c5' } });
  asked[0]?.sink.error(new CloseEvent('close', { code: 1006 }));
  vi.runAllTimers();
  connect();
  expect(asked.map(({ after }) => after)).toEqual(['c1', 'c5']);
  expect(statuses).toEqual(['connecting', 'connected', 'reconnecting', 'connected']);
  end();
});

test('a server that shuts down completes the subscription: it goes on elsewhere', () => {
  const { asked, end } = started();
  asked[0]?.sink.complete();
  vi.runAllTimers();
  expect(asked.length).toBe(2);
  end();
  asked[1]?.sink.complete();
  vi.runAllTimers();
  expect(asked.length).toBe(2);
});

test('what the server refuses is not asked again', () => {
  const { asked, statuses, problems } = started();
  asked[0]?.sink.error([{ message: 'no such cursor', extensions: { code: 'CURSOR_INVALID' } }] as never);
  vi.runAllTimers();
  expect([asked.length, statuses.at(-1), problems[0]?.code]).toEqual([1, 'stopped', 'CURSOR_INVALID']);
});

test('a token that is not good is not tried again', () => {
  const { asked, problems } = started();
  asked[0]?.sink.error(new CloseEvent('close', { code: 4403, reason: 'Forbidden' }));
  vi.runAllTimers();
  expect([asked.length, problems[0]?.code]).toEqual([1, 'UNAUTHENTICATED']);
});

test('waits grow up to a bound', () => {
  expect([0, 1, 2, 20].map((failures) => waitBefore(failures, 1))).toEqual([250, 500, 1000, 5000]);
  expect(waitBefore(0, 0)).toBe(125);
});
