import { startService } from '../local/service.ts';
import { checkedNumber, command } from './command.ts';

/*
 * npm start: serves the synthesized stack on this machine until Ctrl-C or SIGTERM.
 * npm run dev: the same, and rebuilds it after each change to the contract, the stack or a function.
 */

const USAGE = `Usage: npm start, or npm run dev

Serves the API on 127.0.0.1, on the port in the environment variable PORT: 3000 by default, 0 for any free port.`;

const OPTIONS = { watch: { type: 'boolean', default: false } } as const;

await command({ usage: USAGE, options: OPTIONS }, async ({ watch }) => {
  const port = checkedNumber('PORT', process.env['PORT'] || '3000', 0, 65_535);
  const { instructions, close } = await startService(port, watch);
  // On Ctrl-C, the terminal and npm each send a signal. The second one must not interrupt `close`.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => close().then(() => process.exit()));
  // Printed last, because a program that reads it may send a signal immediately.
  console.log(instructions);
});
// After a failed start, open handles would keep the process running.
if (process.exitCode) process.exit();
