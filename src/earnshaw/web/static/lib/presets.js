// Scenes of the view Charges: a name, what there is to see, and the state.
export const PRESETS = [
  ["Learn", "Six ReLU neurons find their teacher", { potential: "relu", motion: "descent", protons: "orthonormal", k: 6, n: 6, d: 6, seed: 0 }],
  ["Stuck", "Eight ReLU neurons stop at a spurious minimum", { potential: "relu", motion: "descent", protons: "orthonormal", k: 8, n: 8, d: 8, seed: 3 }],
  ["One more", "With a ninth neuron they get through", { potential: "relu", motion: "descent", protons: "orthonormal", k: 8, n: 9, d: 8, seed: 3 }],
  ["Coulomb", "Earnshaw's theorem: nothing holds an electron in empty space", { potential: "coulomb", motion: "dynamics", protons: "random", k: 6, n: 6, d: 2, seed: 0 }],
  ["Twenty", "Twenty electrons in space, under almost Yukawa's law", { potential: "almost-yukawa", motion: "dynamics", protons: "random", k: 20, n: 20, d: 3, seed: 0 }],
  ["Circle", "Sign neurons on the circle: pairs that face each other cancel, and stay", { potential: "sphere-sign", motion: "descent", protons: "random", k: 4, n: 4, d: 2, step: 0.005, seed: 1 }],
];
