import { startLocal } from '../../local/start';
import { openState } from '../../local/state';
import { keepStacksIn } from './kept-state';

/** The environments of a test run. Ends by a signal, and when the process that forked it is gone. */
async function main(directory: string): Promise<void> {
  const ended = new Promise((end) => {
    process.on('SIGTERM', end);
    process.on('SIGINT', () => undefined);
    process.on('disconnect', end);
  });
  await keepStacksIn(directory);
  const state = openState(directory);
  const log = { step: console.log, problem: console.log };
  const local = await startLocal({ assembly: state.assemblyDirectory, state, ports: 'any', log });
  await ended;
  await local.stop();
  state.close();
  process.exit(0);
}

const [, , state = ''] = process.argv;
void main(state);
