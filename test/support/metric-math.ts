/** One value for each period, `undefined` where the metric has none. */
export type Series = readonly (number | undefined)[];

interface Operand {
  /** A constant has no timestamps, so it adds no value where a metric has none. */
  readonly isScalar: boolean;
  /** In the period with this index. */
  readonly at: (index: number) => number | undefined;
}

type Calculation = (left: number, right: number) => number;

/** Binary operators, lowest precedence first. */
const operators: readonly Readonly<Record<string, Calculation>>[] = [
  { OR: (left, right) => Number(left !== 0 || right !== 0) },
  { AND: (left, right) => Number(left !== 0 && right !== 0) },
  {
    '<': (left, right) => Number(left < right),
    '<=': (left, right) => Number(left <= right),
    '>': (left, right) => Number(left > right),
    '>=': (left, right) => Number(left >= right),
  },
  { '+': (left, right) => left + right, '-': (left, right) => left - right },
  { '*': (left, right) => left * right, '/': (left, right) => left / right },
];

/**
 * The part of CloudWatch's metric math that alarms here use, with its rules for missing values: between two series a
 * missing one counts as zero where the other has a value; a division by zero is dropped; `IF` drops a missing condition.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/using-metric-math.html
 *
 * @param metrics by their ids, all of one length
 * @throws Error for unsupported syntax
 */
export function evaluateMetricMath(expression: string, metrics: Readonly<Record<string, Series>>): Series {
  const tokens = expression.match(/\w+(?:\.\d+)?|[<>]=?|\S/g) ?? [];
  const result = binary(0);
  if (tokens.length > 0) throw new Error(`Not understood in ${expression}: ${tokens.join(' ')}`);
  const [{ length } = []] = Object.values(metrics);
  return Array.from({ length }, (_, index) => result.at(index));

  function binary(level: number): Operand {
    const ofLevel = operators[level];
    if (ofLevel === undefined) return primary();
    let left = binary(level + 1);
    for (let calculate = ofLevel[tokens[0] ?? '']; calculate; calculate = ofLevel[tokens[0] ?? '']) {
      tokens.shift();
      left = combine(left, binary(level + 1), calculate);
    }
    return left;
  }

  function primary(): Operand {
    const token = tokens.shift() ?? '';
    if (token === 'IF' || token === 'FILL') return call(token);
    if (token === '(') {
      const inner = binary(0);
      expect(')');
      return inner;
    }
    const series = metrics[token];
    if (series) return { isScalar: false, at: (index) => series[index] };
    if (!/^\d/.test(token)) throw new Error(`Not understood in ${expression}: ${token}`);
    return { isScalar: true, at: () => Number(token) };
  }

  function call(name: 'IF' | 'FILL'): Operand {
    expect('(');
    const first = binary(0);
    expect(',');
    const second = binary(0);
    if (name === 'FILL') {
      expect(')');
      return { isScalar: false, at: (index) => first.at(index) ?? second.at(index) };
    }
    expect(',');
    const otherwise = binary(0);
    expect(')');
    return {
      isScalar: false,
      at: (index) => {
        const condition = first.at(index);
        if (condition === undefined) return undefined;
        return condition === 0 ? otherwise.at(index) : (second.at(index) ?? 0);
      },
    };
  }

  function expect(token: string): void {
    if (tokens.shift() !== token) throw new Error(`A ${token} is missing in ${expression}.`);
  }
}

function combine(left: Operand, right: Operand, calculate: Calculation): Operand {
  return {
    isScalar: left.isScalar && right.isScalar,
    at: (index) => {
      const values = [left, right].map(({ at }) => at(index));
      const known = [left, right].some(({ isScalar }, side) => !isScalar && values[side] !== undefined);
      if (!known && !(left.isScalar && right.isScalar)) return undefined;
      const result = calculate(values[0] ?? 0, values[1] ?? 0);
      return Number.isFinite(result) ? result : undefined;
    },
  };
}
