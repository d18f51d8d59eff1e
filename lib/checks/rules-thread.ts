import { join } from 'node:path';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import type { PolicyValidationPluginReport, PolicyValidationStack } from 'aws-cdk-lib';

export interface RulesWorkerData {
  /** For the report. */
  readonly port: MessagePort;
  /** Its only number counts the reports that were sent, or could not be made. */
  readonly answered: Int32Array;
}

/** In place of the count, of a thread that has ended. */
export const ended = -1;

/** Milliseconds: many times what it takes, for a thread that ended without a word. */
const limit = 120_000;

export interface RulesThread {
  /** Begins to validate templates. */
  begin(templates: readonly PolicyValidationStack[]): void;
  /** Waits for what the CDK's own plugin would report of them; undefined if the thread failed. */
  end(): PolicyValidationPluginReport | undefined;
}

/**
 * Prepares the engine of CloudFormation's rules in another thread, which takes as long as creating the stacks. To be called before the
 * CDK is loaded.
 */
export function startRulesThread(): RulesThread {
  const { port1: own, port2: port } = new MessageChannel();
  const answered = new Int32Array(new SharedArrayBuffer(4));
  const workerData: RulesWorkerData = { port, answered };
  const worker = new Worker(join(__dirname, 'rules-worker.ts'), { workerData, transferList: [port] });
  // The caller then uses the rules by itself, and meets the same error.
  worker.on('error', () => undefined);
  worker.on('exit', () => Atomics.store(answered, 0, ended));
  worker.unref();
  let begun = 0;
  return {
    begin(templates) {
      begun += 1;
      worker.postMessage(templates);
    },
    end() {
      Atomics.wait(answered, 0, begun - 1, limit);
      return receiveMessageOnPort(own)?.message;
    },
  };
}
