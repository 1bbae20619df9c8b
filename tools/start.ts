import { checkedNumber, command } from './command.ts';
import { startService } from './local/service.ts';

const USAGE = `Usage: npm start [-- --fresh | --memory] [--inspect], or npm run dev with the same options

Serves the synthesized stack on this machine until Ctrl-C. npm run dev also rebuilds it after each change to the
contract, the stack or a function. The environment variable PORT is the port: 3000 by default, 0 for any free port.

What is stored is in .local/ and is used again, unless --fresh deletes it first or --memory keeps the data in memory.
With --inspect, a debugger can attach to port 9229, and no request times out.`;

const OPTIONS = {
  watch: { type: 'boolean', default: false },
  fresh: { type: 'boolean', default: false },
  memory: { type: 'boolean', default: false },
  inspect: { type: 'boolean', default: false },
} as const;

await command({ usage: USAGE, options: OPTIONS }, async ({ watch, fresh, memory, inspect }) => {
  const port = checkedNumber('PORT', process.env['PORT'] || '3000', 0, 65_535);
  const storage = memory ? 'memory' : fresh ? 'fresh' : 'keep';
  const { instructions, close } = await startService({ port, watch, storage, inspect });
  // On Ctrl-C, the terminal and npm each send a signal. The second one must not interrupt `close`.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => close().then(() => process.exit()));
  // Printed last, because a program that reads it may send a signal immediately.
  console.log(instructions);
});
// After a failed start, open handles would keep the process running.
if (process.exitCode) process.exit();
