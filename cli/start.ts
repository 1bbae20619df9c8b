import { startService } from '../local/service.ts';
import { checkedNumber, command } from './command.ts';

/*
 * npm start: serves the synthesized stack on this machine until Ctrl-C or SIGTERM.
 * npm run dev: the same, and rebuilds it after each change to the contract, the stack or a function.
 */

const USAGE = `Usage: npm start, or npm run dev

The service listens on the port in the variable PORT, 3000 by default; 0 is any free port.`;

const OPTIONS = { watch: { type: 'boolean', default: false } } as const;

await command({ usage: USAGE, options: OPTIONS }, async ({ watch }) => {
  const port = checkedNumber('PORT', process.env['PORT'] || '3000', 0, 65_535);
  const { instructions, close } = await startService(port, watch);
  // npm passes on a signal that the terminal has already sent, so a second one must not end the process at once.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => close().then(() => process.exit()));
  // A reader may send a signal at once.
  console.log(instructions);
});
// What a failed start has opened would keep the process running.
if (process.exitCode) process.exit();
