// A zip of files, stored and not compressed. The same files give the same bytes: sorted by path, all of one time.
// Files are read piece by piece and never held in memory together.

const MOST_FILES = 65_000;
const MOST_BYTES = 0xffff_ffff;
const MOST_COMMENT = 0xffff;
const UTF8 = 0x0800;
const FIRST_DAY = 0x0021; // 1 January 1980, the earliest that a zip can have

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb8_8320 : value >>> 1;
  return value >>> 0;
});

async function checksum(file) {
  let value = 0xffff_ffff;
  const reader = file.stream().getReader();
  for (let { done, value: piece } = await reader.read(); !done; { done, value: piece } = await reader.read()) {
    for (const byte of piece) value = (value >>> 8) ^ TABLE[(value ^ byte) & 0xff];
  }
  return (value ^ 0xffff_ffff) >>> 0;
}

function record(fields) {
  const bytes = new DataView(new ArrayBuffer(fields.reduce((size, [width]) => size + width, 0)));
  let at = 0;
  for (const [width, value] of fields) {
    if (width === 2) bytes.setUint16(at, value, true);
    else bytes.setUint32(at, value, true);
    at += width;
  }
  return bytes.buffer;
}

function shared(name, size, sum) {
  return [[2, 20], [2, UTF8], [2, 0], [2, 0], [2, FIRST_DAY], [4, sum], [4, size], [4, size], [2, name.length], [2, 0]];
}

// The comment that says how many hidden files are left out, by what hides them; in one number where that is too long.
function comment(hidden) {
  const bytes = new TextEncoder().encode(JSON.stringify({ hidden }));
  if (bytes.length <= MOST_COMMENT) return bytes;
  return comment({ others: Object.values(hidden).reduce((sum, number) => sum + number, 0) });
}

// `files` are { path, file }, `hidden` the numbers of those left out. Rejects with a sentence when a zip of this form
// cannot hold them.
export async function pack(files, hidden) {
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
  if (files.length > MOST_FILES || bytes > MOST_BYTES) {
    throw new Error("This is too much to pack in the browser. Pack the folder as a zip and choose that.");
  }
  const parts = [];
  const directory = [];
  let offset = 0;
  for (const { path, file } of [...files].sort((one, other) => (one.path < other.path ? -1 : 1))) {
    const name = new TextEncoder().encode(path);
    const fields = shared(name, file.size, await checksum(file));
    const head = record([[4, 0x0403_4b50], ...fields]);
    parts.push(head, name, file);
    directory.push(record([[4, 0x0201_4b50], [2, 20], ...fields, [2, 0], [2, 0], [2, 0], [4, 0], [4, offset]]), name);
    offset += head.byteLength + name.length + file.size;
  }
  const size = directory.reduce((sum, part) => sum + (part.byteLength ?? part.length), 0);
  const said = comment(hidden);
  const counts = [[2, files.length], [2, files.length], [4, size], [4, offset], [2, said.length]];
  return new Blob([...parts, ...directory, record([[4, 0x0605_4b50], [2, 0], [2, 0], ...counts]), said]);
}
