// A canvas on which charges move: protons, electrons, trails and forces, in the colours of the page.
const TAU = 2 * Math.PI;
const ARROW = 46; // pixels of the strongest force; weaker ones are shorter by the cube root of their share

export class Stage {
  constructor(canvas) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.width = this.height = this.scale = 1;
    this.middle = [0, 0];
  }

  // Take the size of the element; true if it has changed.
  resize() {
    const ratio = devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    if (width === this.width && height === this.height && ratio === this.ratio) return false;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    return true;
  }

  // Show this part of the plane, with equal scales: [left, right, bottom, top].
  look([left, right, bottom, top]) {
    this.box = [left, right, bottom, top];
    this.middle = [(left + right) / 2, (bottom + top) / 2];
    this.scale = 0.78 * Math.min(this.width / (right - left), this.height / (top - bottom));
  }

  x(place) {
    return this.width / 2 + this.scale * (place - this.middle[0]);
  }

  y(place) {
    return this.height / 2 - this.scale * (place - this.middle[1]);
  }

  // From pixels back to the plane.
  place(x, y) {
    return [this.middle[0] + (x - this.width / 2) / this.scale, this.middle[1] - (y - this.height / 2) / this.scale];
  }

  begin(colours) {
    const { pen } = this;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.fillStyle = colours.paper;
    pen.fillRect(0, 0, this.width, this.height);
    pen.lineCap = pen.lineJoin = "round";
    pen.textAlign = "center";
    pen.textBaseline = "middle";
  }

  say(colours, words) {
    const { pen } = this;
    pen.fillStyle = colours.quiet;
    pen.font = "14px system-ui, sans-serif";
    pen.textAlign = "left";
    pen.fillText(words, 12, 18);
    pen.textAlign = "center";
  }

  circle(colours, radius) {
    const { pen } = this;
    pen.strokeStyle = colours.line;
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.arc(this.x(0), this.y(0), radius * this.scale, 0, TAU);
    pen.stroke();
  }

  proton(colours, x, y, name) {
    const { pen } = this;
    const [across, down] = [this.x(x), this.y(y)];
    pen.strokeStyle = colours.c[5];
    pen.lineWidth = 3;
    pen.beginPath();
    pen.moveTo(across - 13, down);
    pen.lineTo(across + 13, down);
    pen.moveTo(across, down - 13);
    pen.lineTo(across, down + 13);
    pen.stroke();
    pen.fillStyle = colours.quiet;
    pen.font = "12px system-ui, sans-serif";
    pen.fillText(name, across + 17, down - 15);
  }

  // The way of one electron so far: `path` holds all ways moment by moment, (x, y) of each of `count`.
  trail(colour, path, count, electron, last, x, y) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.globalAlpha = 0.55;
    pen.lineWidth = 1.6;
    pen.beginPath();
    for (let moment = 0; moment <= last; moment += 1) {
      const at = 2 * (moment * count + electron);
      pen.lineTo(this.x(path[at]), this.y(path[at + 1]));
    }
    pen.lineTo(this.x(x), this.y(y));
    pen.stroke();
    pen.globalAlpha = 1;
  }

  force(colours, x, y, fx, fy, most) {
    const size = Math.hypot(fx, fy);
    if (!(size > 0 && most > 0)) return;
    const length = ARROW * Math.cbrt(Math.min(1, size / most));
    if (length < 3) return;
    const { pen } = this;
    const [across, down] = [this.x(x), this.y(y)];
    const [dx, dy] = [fx / size, -fy / size];
    const [tipX, tipY] = [across + dx * (11 + length), down + dy * (11 + length)];
    const head = Math.min(7, length);
    pen.strokeStyle = pen.fillStyle = colours.ink;
    pen.lineWidth = 1.8;
    pen.beginPath();
    pen.moveTo(across + dx * 11, down + dy * 11);
    pen.lineTo(tipX - dx * head, tipY - dy * head);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(tipX, tipY);
    pen.lineTo(tipX - dx * head - dy * head * 0.5, tipY - dy * head + dx * head * 0.5);
    pen.lineTo(tipX - dx * head + dy * head * 0.5, tipY - dy * head - dx * head * 0.5);
    pen.fill();
  }

  // One that has left the picture is a triangle at its border.
  electron(colours, colour, x, y, name, chosen) {
    const { pen, width, height } = this;
    let [across, down] = [this.x(x), this.y(y)];
    const away = across < 0 || across > width || down < 0 || down > height;
    pen.fillStyle = colour;
    if (away) {
      const turn = Math.atan2(down - height / 2, across - width / 2);
      across = Math.min(width - 8, Math.max(8, across));
      down = Math.min(height - 8, Math.max(8, down));
      pen.beginPath();
      for (const [angle, far] of [[0, 8], [2.4, 8], [-2.4, 8]]) pen.lineTo(across + far * Math.cos(turn + angle), down + far * Math.sin(turn + angle));
      pen.fill();
      return;
    }
    pen.beginPath();
    pen.arc(across, down, 9, 0, TAU);
    pen.fill();
    pen.strokeStyle = colours.paper;
    pen.lineWidth = 1.5;
    pen.stroke();
    if (chosen) {
      pen.strokeStyle = colours.accent;
      pen.lineWidth = 3;
      pen.beginPath();
      pen.arc(across, down, 14, 0, TAU);
      pen.stroke();
    }
    pen.fillStyle = "#ffffff";
    pen.font = "600 11px system-ui, sans-serif";
    pen.strokeStyle = "rgba(0, 0, 0, 0.55)";
    pen.lineWidth = 2.5;
    pen.strokeText(name, across, down + 0.5);
    pen.fillText(name, across, down + 0.5);
  }
}
