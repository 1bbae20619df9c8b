/** What a shell tells of a program that SIGPIPE ended: 128 + 13. Node ignores that signal and fails with EPIPE instead. */
const STATUS_OF_SIGPIPE = 141;

/**
 * Runs a command-line tool's body; a failure becomes its sentence on stderr and exit status 1. Where nobody reads
 * its output any more, as after `| head`, it ends quietly with exit status 141.
 */
export async function command(body: () => Promise<void>): Promise<void> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', endWhereNobodyReads);
  try {
    await body();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exitCode = 1;
  }
}

function endWhereNobodyReads(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(STATUS_OF_SIGPIPE);
}
