// Filters of the list: conditions such as `iou<0.6 kind=nue`, which must all hold.

const CONDITION = /^([a-z_0-9]+)(<=|>=|!=|<|>|=)(.+)$/;

const COMPARE = {
  "<": (a, b) => a < b,
  "<=": (a, b) => a <= b,
  ">": (a, b) => a > b,
  ">=": (a, b) => a >= b,
  "=": (a, b) => a === b,
  "!=": (a, b) => a !== b,
};

/// What users call a column.
const columnOf = (name) => (name === "kind" ? "interaction" : name);

/// A function of a row that says whether it stays. Throws an Error that says what is wrong.
export function parseFilter(text, columns) {
  const conditions = text
    .trim()
    .split(/\s+/)
    .filter((word) => word)
    .map((word) => {
      const match = CONDITION.exec(word.toLowerCase());
      if (!match) {
        throw new Error(`“${word}” is no condition; write for example iou<0.6`);
      }
      const [, name, sign, value] = match;
      const column = columns.indexOf(columnOf(name));
      if (column < 0) {
        throw new Error(`there is no “${name}”; there are ${columns.map((one) => (one === "interaction" ? "kind" : one)).join(", ")}`);
      }
      const wanted = columnOf(name) === "interaction" ? value : Number(value);
      if (Number.isNaN(wanted)) {
        throw new Error(`“${value}” is no number`);
      }
      // What is not known (the energy of cosmic rays) meets no condition.
      return (row) => row[column] !== null && row[column] !== undefined && COMPARE[sign](row[column], wanted);
    });
  return (row) => conditions.every((holds) => holds(row));
}
