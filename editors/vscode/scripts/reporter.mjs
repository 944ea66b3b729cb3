// Prints one line per test: `ok - NAME` or `not ok - NAME: REASON`, with the full error before it.
export default async function* report(events) {
  const parents = [];
  for await (const { type, data } of events) {
    if (type === "test:start") {
      parents.length = data.nesting;
      parents[data.nesting] = data.name;
    } else if (type === "test:stderr" || type === "test:stdout") {
      yield data.message;
    } else if ((type === "test:pass" || type === "test:fail") && data.details.type !== "suite") {
      const name = [...parents.slice(0, data.nesting), data.name].join(": ");
      if (data.skip !== undefined || data.todo !== undefined) {
        yield `skipped - ${name}\n`;
      } else if (type === "test:pass") {
        yield `ok - ${name}\n`;
      } else {
        const error = data.details.error?.cause ?? data.details.error;
        yield `${error?.stack ?? error}\n`;
        yield `not ok - ${name}: ${String(error?.message ?? error).replace(/\s+/g, " ").slice(0, 300)}\n`;
      }
    } else if (type === "test:fail" && data.details.error?.failureType === "hookFailed") {
      yield `not ok - ${data.name}: ${String(data.details.error.message).replace(/\s+/g, " ")}\n`;
    }
  }
}
