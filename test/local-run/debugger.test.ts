import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { bodyOf, plantWith } from '../support/plant.ts';
import { copyProject } from '../support/project-copy.ts';
import { post } from '../support/service.ts';

const project = closedAtEnd(copyProject());

/** Longer than all attempts may take without a debugger. */
const PAUSE_MS = 7000;

test('a request succeeds after a pause in the client of the database', async () => {
  const file = join(project.directory, 'functions/dynamodb/client.ts');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^ +const signal = .*$/m, '$& debugger;'));
  const run = await project.start('npm start -- --inspect', { NODE_OPTIONS: '--inspect-port=0' });
  const [url = ''] = /ws:\S+/.exec(run.output()) ?? [];
  const socket = new WebSocket(url);
  // Chrome DevTools Protocol, domain Debugger.
  const send = (method: string) => socket.send(JSON.stringify({ id: 1, method }));
  await once(socket, 'open');
  send('Debugger.enable');
  await once(socket, 'message');
  let pauses = 0;
  socket.onmessage = async ({ data }) => {
    if (JSON.parse(data).method !== 'Debugger.paused') return;
    pauses += 1;
    if (pauses === 1) await sleep(PAUSE_MS);
    send('Debugger.resume');
  };
  expect(await post(run.url, bodyOf(1))).toEqual(plantWith());
  // One at the read of the token, and one at the write of the plant.
  expect(pauses).toBe(2);
});
