"""Fu, Chi & Liang (2018), Local geometry of one-hidden-layer neural networks for logistic regression: figures and more.

The paper prints no tables. Figures 2 to 4 are recomputed, and compared with values that were computed independently
(figure 2) or read off the figures (3 and 4). Where the paper leaves a setting open (the weights, the kind of labels, the
step and the radius of figure 3) we use standard normal weights, classification, step 200 and 0.1 of the weights' norm.
"""

PAPER = "logistic"
NEURONS = 3
