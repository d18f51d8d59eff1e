import type { Client } from 'pg';

/** Names as PostgreSQL writes them. https://www.postgresql.org/docs/17/sql-explain.html */
interface PlanNode {
  /** Average rows of a loop: returned, and read in vain. */
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Rows Removed by Index Recheck'?: number;
  readonly 'Actual Loops': number;
  readonly Plans?: readonly PlanNode[];
}

/** A statement that was executed, by itself or by a trigger. */
export interface ExecutedPlan {
  readonly statement: string;
  readonly nodes: readonly PlanNode[];
}

/**
 * Runs `work` on a superuser's connection and returns the executed plans, as EXPLAIN (ANALYZE) would, but including
 * those of cascading deletions.
 * Source: https://www.postgresql.org/docs/17/auto-explain.html
 */
export async function executedPlans(client: Client, work: () => Promise<unknown>): Promise<ExecutedPlan[]> {
  const plans: ExecutedPlan[] = [];
  const take = ({ message = '' }: { readonly message?: string | undefined }) => {
    const json = /^duration: .*? plan:\n(.*)$/s.exec(message)?.[1];
    if (json === undefined) return;
    const { 'Query Text': statement, Plan: plan } = JSON.parse(json);
    plans.push({ statement, nodes: nodesOf(plan) });
  };
  await client.query(`
    load 'auto_explain';
    set auto_explain.log_level = notice;
    set auto_explain.log_format = json;
    set auto_explain.log_analyze = on;
    set auto_explain.log_nested_statements = on;
    set auto_explain.log_min_duration = 0`);
  client.on('notice', take);
  try {
    await work();
  } finally {
    client.off('notice', take);
    await client.query('set auto_explain.log_min_duration = -1');
  }
  return plans;
}

function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}

/** The most rows that a step of the plan read or returned. */
export function mostRows({ nodes }: ExecutedPlan): number {
  return Math.max(...nodes.map((node) => node['Actual Loops'] * rowsOfLoop(node)));
}

function rowsOfLoop(node: PlanNode): number {
  return (
    node['Actual Rows'] +
    (node['Rows Removed by Filter'] ?? 0) +
    (node['Rows Removed by Join Filter'] ?? 0) +
    (node['Rows Removed by Index Recheck'] ?? 0)
  );
}
