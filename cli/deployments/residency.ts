import type { Command } from 'commander';
import { type Environment, environmentNamed } from '../../lib/environments';
import { callAws, clientSettings, unlessRefused } from '../shell/aws';
import { CommandFailed } from '../shell/failure';
import { environmentToWorkOn } from '../shell/options';
import { escapeMarkdown, type Terminal } from '../shell/terminal';

interface ResidencyOptions {
  readonly environment: string;
  readonly json?: boolean;
}

const help = `
Read-only. Prints one page of Markdown for an auditor: what was looked at, where, with which calls, on which day, and
what leads out of the environment's regions. What AWS refuses is listed as "not checked". Permissions: docs/operating.md.

Exit codes: 0 no findings, 1 findings, or failure, 2 usage error.`;

export function register(program: Command, terminal: Terminal): void {
  program
    .command('residency')
    .addOption(environmentToWorkOn())
    .option('--json', 'print JSON')
    .summary('show where the data of a deployed environment is')
    .description("Look for anything in the live account that takes data out of the environment's regions.")
    .addHelpText('after', help)
    .action((options: ResidencyOptions) => residency(options, terminal));
}

type Report = Awaited<ReturnType<typeof collect>>;

async function residency({ environment, json }: ResidencyOptions, terminal: Terminal) {
  const report = await collect(environmentNamed(environment) as Environment, terminal);
  terminal.result(json ? JSON.stringify(report) : formatMarkdown(report, terminal));
  const { findings, notChecked } = report;
  const count = `${environment}: ${findings.length} findings, ${notChecked.length} calls not checked.`;
  if (findings.length > 0)
    throw new CommandFailed(count, 'Remove what was found, or add it to the row and the promise.');
  terminal.note(notChecked.length > 0 ? terminal.alarm(`warning: ${count}`) : count);
}

async function collect(environment: Environment, { note }: Terminal) {
  const { name, region, residencyRegions } = environment;
  const { STS } = await import('@aws-sdk/client-sts');
  const { Account: account = '' } = await callAws(new STS(clientSettings(region)), 'getCallerIdentity', {});
  const { EC2 } = await import('@aws-sdk/client-ec2');
  // Those that the account has enabled: https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeRegions.html
  const answer = await unlessRefused(/./, () =>
    callAws(new EC2(clientSettings(region)), 'describeRegions', {}),
  );
  const regions = answer?.Regions?.flatMap(({ RegionName = '' }) => RegionName) ?? residencyRegions;
  note(`Looking for resources of ${name} in account ${account}, in ${regions.length} regions …`);
  // Loaded lazily: the SDK's clients would delay --help by a second.
  const { acknowledgedFindings, collectEvidence } = require('./evidence') as typeof import('./evidence');
  const evidence = await collectEvidence(environment, account, regions);
  const [tagged] = evidence;
  // Evidence about another account, or before the first deployment, proves nothing.
  const isEmpty = tagged?.seen.length === 0 && tagged.notChecked.length === 0;
  const nothing = `Account ${account} has no resource with the tags of ${name}: is it the right account?`;
  const unknown = 'Regions outside of the environment: ec2:DescribeRegions failed.';
  return {
    environment: name,
    account,
    date: new Date().toISOString(),
    residencyRegions,
    /** All that the account has enabled, if AWS told them. */
    regions,
    evidence,
    acknowledged: evidence.find(({ what }) => what === acknowledgedFindings)?.seen ?? [],
    findings: [...(isEmpty ? [nothing] : []), ...evidence.flatMap(({ findings }) => findings)],
    notChecked: [...(answer ? [] : [unknown]), ...evidence.flatMap(({ notChecked }) => notChecked)],
  };
}

function formatMarkdown(report: Report, terminal: Terminal): string {
  const { environment, account, date, residencyRegions, regions: all, findings, notChecked } = report;
  const rows = report.evidence.map(({ what, how, regions, seen, ...of }) => {
    const blind =
      of.notChecked.length > 0 && `not checked in ${of.notChecked.length} of ${regions.length} regions`;
    const result = of.findings.length > 0 ? `**${of.findings.length} findings**` : blind || 'ok';
    const where = regions === all ? 'all of these regions' : regions.join(', ');
    return `| ${what} | ${where} | ${result} | ${seen.length} | ${how} |`;
  });
  const list = (heading: string, items: readonly string[]) =>
    items.length > 0
      ? ['', `## ${heading}`, '', ...items.map((item) => `- ${escapeMarkdown(item, terminal)}`)]
      : [];
  const copies = report.evidence.flatMap(({ seen }) => seen.filter((name) => name.includes(', also in ')));
  return [
    `# Residency of ${environment}`,
    '',
    `AWS account ${account}, on ${date.slice(0, 10)} at ${date.slice(11, 16)} UTC. Data may be in ${residencyRegions.join(', ')}.`,
    '',
    `Regions looked at: ${all.join(', ')}.`,
    '',
    '| What | Where | Result | Looked at | Checked with |',
    '|---|---|---|---|---|',
    ...rows,
    ...list('Findings', findings),
    ...list('Keys in several regions', copies),
    ...list('Acknowledged at synthesis', report.acknowledged),
    ...list('Not checked', notChecked),
    ...(findings.length > 0 ? [] : ['', 'No findings.']),
  ].join('\n');
}
