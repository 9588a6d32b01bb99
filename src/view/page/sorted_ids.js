// The numbers of a plane's stored pixels, wire after wire and upwards within each, which is how an
// event brings them: searched by halving.

/// The first place in ascending ids that is not below `id`.
export function lowerBound(ids, id) {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ids[middle] < id) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Its place, or -1.
export function find(ids, id) {
  const at = lowerBound(ids, id);
  return ids[at] === id ? at : -1;
}

/// The places of the pixels of all wires that are seen at least in part: from the first up to, not
/// including, the last.
export function ofWires({ ids, rows }, [firstWire, lastWire]) {
  return [lowerBound(ids, Math.floor(firstWire) * rows), lowerBound(ids, Math.ceil(lastWire) * rows)];
}
