import { checkedNumber, command } from '../operate/command.ts';
import { startService } from './service.ts';

/*
 * npm start: serves the synthesized stack on this machine until Ctrl-C or SIGTERM.
 * npm run dev: the same, and again whenever the contract or a file of the stack or of a function changes.
 */

/** npm passes on a signal that the terminal has sent already: the same one arrives twice, 1 to 3 ms apart. */
const SAME_SIGNAL_MS = 250;

const USAGE = `Usage: npm start, or npm run dev

The service listens at the port that the variable PORT names, 3000 by default; 0 is any that is free.`;

const OPTIONS = { watch: { type: 'boolean' } } as const;

await command({ usage: USAGE, options: OPTIONS }, async ({ watch: watching }) => {
  const port = checkedNumber('PORT', process.env['PORT'] || '3000', 0, 65_535);
  const { instructions, close } = await startService(port, { watching });

  let firstSignal: number | undefined;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      if (firstSignal === undefined) {
        firstSignal = performance.now();
        void close().then(() => process.exit());
      } else if (performance.now() - firstSignal > SAME_SIGNAL_MS) {
        process.exit(1);
      }
    });
  }
  // Whoever reads them may send a signal at once.
  console.log(instructions);
});
